@testable import FanOut
import Media
import NIOCore
import NIOPosix
import Stage
import Synchronization
import Testing

@Suite("The clock of a program and its renditions")
struct SharedTimelineTests {
    private let start = MonotonicTime(nanoseconds: 5_000_000_000)

    private final class Taken: PacketSink {
        let times = Mutex<[Int64]>([])

        func receive(_ packet: MediaPacket) {
            times.withLock { $0.append(packet.timestamp) }
        }
    }

    @Test("gives frames of one moment the same timestamp on all feeds, whichever feed was first")
    func oneMoment() {
        let timeline = SharedTimeline()
        #expect(timeline.place(Packets.video(), epoch: 1, arrival: start) == 0)
        #expect(timeline.place(Packets.key(70_000), epoch: 1, arrival: start) == 2_000)
        #expect(timeline.place(Packets.frame(70_033), epoch: 1, arrival: start.advanced(milliseconds: 33)) == 2_033)
        // The other connection opens two seconds later; its configuration carries no time.
        let late = start.advanced(milliseconds: 2_300)
        #expect(timeline.place(Packets.video(), epoch: 1, arrival: late) == 0)
        #expect(timeline.place(Packets.key(72_000), epoch: 1, arrival: late) == 4_000)
        #expect(timeline.place(Packets.key(72_000), epoch: 1, arrival: late.advanced(milliseconds: 50)) == 4_000)
    }

    @Test("keeps keyframe times and GOP lengths, whichever connection opens first")
    func audioFirst() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let directory = FeedDirectory(group: group, configuration: FanOutConfiguration())
        let ladder = RenditionLadder(hasAudioOnly: true)
        let (program, renditions) = directory.open("room", with: ladder)
        let audioOnly = try #require(renditions.first?.feed)
        let seen = Taken()
        program.attach(seen)
        // The audio-only rendition connects first, and is two audio frames ahead when the program connects.
        for packet in [Packets.audio(), Packets.audioFrame(21), Packets.audioFrame(42)] { audioOnly.receive(packet) }
        try await audioOnly.ownerLoop.submit {}.get()
        for packet in [Packets.video(), Packets.key(0), Packets.audioFrame(0), Packets.frame(33), Packets.key(2_000)] {
            program.receive(packet)
        }
        try await program.ownerLoop.submit {}.get()
        #expect(seen.times.withLock { $0 } == [0, 0, 0, 33, 2_000])
        try await group.shutdownGracefully()
    }

    @Test("reports the lag of a feed since its last packet, or since the current mixer began")
    func lag() {
        let timeline = SharedTimeline()
        #expect(timeline.lag(of: 0) == 0)
        _ = timeline.place(Packets.key(70_000), epoch: 1, arrival: start)
        _ = timeline.place(Packets.key(74_000), epoch: 1, arrival: start.advanced(milliseconds: 4_000))
        #expect(timeline.lag(of: 0) == 4_000 && timeline.lag(of: 5_000) == 1_000 && timeline.lag(of: 9_000) == 0)
        // A minute without any mixer is no lag of a feed whose connection opens shortly after another's.
        _ = timeline.place(Packets.key(0), epoch: 2, arrival: start.advanced(milliseconds: 64_000))
        _ = timeline.place(Packets.key(500), epoch: 2, arrival: start.advanced(milliseconds: 64_500))
        #expect(timeline.lag(of: 6_000) == 500)
    }

    @Test("continues after the previous mixer plus the elapsed time, for all feeds alike")
    func takeover() {
        let timeline = SharedTimeline()
        _ = timeline.place(Packets.key(0), epoch: 1, arrival: start)
        _ = timeline.place(Packets.frame(4_000), epoch: 1, arrival: start.advanced(milliseconds: 4_000))
        let next = start.advanced(milliseconds: 5_500)
        #expect(timeline.place(Packets.key(0), epoch: 2, arrival: next) == 5_500)
        // Packets of the previous mixer that are still in flight keep their own time.
        #expect(timeline.place(Packets.frame(4_033), epoch: 1, arrival: next) == 4_033)
        #expect(timeline.place(Packets.key(0), epoch: 2, arrival: next.advanced(milliseconds: 300)) == 5_500)
    }
}
