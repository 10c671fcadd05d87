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

    @Test("Pictures of one moment have one time, whichever feed was first and however late the other comes up")
    func oneMoment() {
        let timeline = SharedTimeline()
        #expect(timeline.place(Packets.video(), epoch: 1, arrival: start) == 0)
        #expect(timeline.place(Packets.key(70_000), epoch: 1, arrival: start) == 2_000)
        #expect(timeline.place(Packets.picture(70_033), epoch: 1, arrival: start.advanced(milliseconds: 33)) == 2_033)
        // The other connection stands two seconds later; its configuration says nothing of its time.
        let late = start.advanced(milliseconds: 2_300)
        #expect(timeline.place(Packets.video(), epoch: 1, arrival: late) == 0)
        #expect(timeline.place(Packets.key(72_000), epoch: 1, arrival: late) == 4_000)
        #expect(timeline.place(Packets.key(72_000), epoch: 1, arrival: late.advanced(milliseconds: 50)) == 4_000)
    }

    @Test("Whichever connection comes up first: no key picture is moved, and groups of pictures keep their length")
    func soundFirst() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let directory = FeedDirectory(group: group, configuration: FanOutConfiguration())
        let ladder = RenditionLadder(hasAudioOnly: true)
        let (program, renditions) = directory.open("room", with: ladder)
        let sound = try #require(renditions.first?.feed)
        let seen = Taken()
        program.attach(seen)
        // The sound by itself has come up, and is two frames ahead, when the program does.
        for packet in [Packets.audio(), Packets.sound(21), Packets.sound(42)] { sound.receive(packet) }
        try await sound.home.submit {}.get()
        for packet in [Packets.video(), Packets.key(0), Packets.sound(0), Packets.picture(33), Packets.key(2_000)] {
            program.receive(packet)
        }
        try await program.home.submit {}.get()
        #expect(seen.times.withLock { $0 } == [0, 0, 0, 33, 2_000])
        try await group.shutdownGracefully()
    }

    @Test("A feed lags by what others have got since its last packet, or since the mixer that is there now began")
    func lag() {
        let timeline = SharedTimeline()
        #expect(timeline.lag(of: 0) == 0)
        _ = timeline.place(Packets.key(70_000), epoch: 1, arrival: start)
        _ = timeline.place(Packets.key(74_000), epoch: 1, arrival: start.advanced(milliseconds: 4_000))
        #expect(timeline.lag(of: 0) == 4_000 && timeline.lag(of: 5_000) == 1_000 && timeline.lag(of: 9_000) == 0)
        // A minute without any mixer is no fault of a feed whose connection comes up a moment after another's.
        _ = timeline.place(Packets.key(0), epoch: 2, arrival: start.advanced(milliseconds: 64_000))
        _ = timeline.place(Packets.key(500), epoch: 2, arrival: start.advanced(milliseconds: 64_500))
        #expect(timeline.lag(of: 6_000) == 500)
    }

    @Test("The next mixer goes on behind the last one, after the time that has passed, for all of them alike")
    func takeover() {
        let timeline = SharedTimeline()
        _ = timeline.place(Packets.key(0), epoch: 1, arrival: start)
        _ = timeline.place(Packets.picture(4_000), epoch: 1, arrival: start.advanced(milliseconds: 4_000))
        let next = start.advanced(milliseconds: 5_500)
        #expect(timeline.place(Packets.key(0), epoch: 2, arrival: next) == 5_500)
        // What is still under way of the old one keeps its own time.
        #expect(timeline.place(Packets.picture(4_033), epoch: 1, arrival: next) == 4_033)
        #expect(timeline.place(Packets.key(0), epoch: 2, arrival: next.advanced(milliseconds: 300)) == 5_500)
    }
}
