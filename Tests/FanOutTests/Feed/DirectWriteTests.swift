import Glibc
import Media
import NIOCore
@testable import RTMP
import Stage
import Synchronization
import Testing

@testable import FanOut

@Suite("Direct writes to viewers' sockets")
struct DirectWriteTests {
    /// A viewer that allows direct writes, and the other end of its socket.
    private final class DirectConnection {
        let viewer: FeedViewer
        let output: RecordingViewerOutput
        private let socket: DirectSocket
        private let near: CInt
        private let far: CInt

        init(_ fixture: FeedPartitionFixture, sid: String? = nil) {
            var ends: [CInt] = [-1, -1]
            socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0, &ends)
            (near, far) = (ends[0], ends[1])
            (viewer, output) = fixture.join(sid: sid)
            socket = DirectSocket(descriptor: near, eventLoop: fixture.eventLoop)
            output.socket = socket
        }

        deinit {
            close(near)
            close(far)
        }

        private func passedTags() -> [FLVTag] {
            var bytes = [UInt8](repeating: 0, count: 1 << 20)
            let count = recv(far, &bytes, bytes.count, CInt(MSG_DONTWAIT))
            return FLVTag.read(ByteBuffer(bytes: bytes.prefix(max(count, 0)))) ?? []
        }

        /// The bytes written directly since the last call, as FLV tags.
        func passed() -> String { passedTags().map(\.description).joined(separator: " ") }

        /// The bytes of both ways, as FLV tags in the order of their timestamps; called once.
        func all() -> String {
            // The sort is stable, and headers come first.
            (output.tags + passedTags()).enumerated()
                .sorted { ($0.element.timestamp, $0.offset) < ($1.element.timestamp, $1.offset) }
                .map(\.element.description).joined(separator: " ")
        }

        /// Simulates other data queued in the channel.
        func disableDirectWrite() {
            output.socket = nil
            output.observer?.directSocketChanged()
        }

        func enableDirectWrite() { output.socket = socket }
    }

    private let fixture = FeedPartitionFixture()

    private func goOnAir() { goOnAir(fixture) }

    private func goOnAir(_ fixture: FeedPartitionFixture) {
        fixture.send(Packets.video(), Packets.audio(), Packets.key(0))
    }

    @Test("writes directly to a viewer that has caught up; its writer gets the start and one batch")
    func direct() {
        goOnAir()
        let viewers = (0..<3).map { _ in DirectConnection(fixture) }
        fixture.send(Packets.frame(40))
        fixture.send(Packets.frame(80))
        fixture.send(Packets.frame(120), Packets.audioFrame(130))
        for viewer in viewers {
            #expect(viewer.output.text == "V0 A0 K0 p40")
            #expect(viewer.passed() == "p80 p120 s130")
        }
    }

    @Test("a viewer receives the same media with direct writes and without", arguments: [true, false])
    func everyTag(writesDirectly: Bool) {
        let fixture = FeedPartitionFixture(FanOutConfiguration(writesDirectly: writesDirectly))
        goOnAir(fixture)
        let (one, other) = (DirectConnection(fixture), DirectConnection(fixture))
        fixture.send(Packets.frame(40))
        fixture.send(Packets.frame(80))
        one.disableDirectWrite()
        fixture.send(Packets.frame(120), Packets.audioFrame(130))
        one.enableDirectWrite()
        fixture.send(Packets.frame(160))
        fixture.send(Packets.frame(200))
        #expect(one.output.areDirectWritesDisabled == !writesDirectly)
        let directTags = other.output.tags.count
        #expect(directTags == (writesDirectly ? 4 : 9))
        for viewer in [one, other] {
            #expect(viewer.all() == "V0 A0 K0 p40 p80 p120 s130 p160 p200")
        }
    }

    @Test(
        "a viewer's bytes, stall and qualification are recorded alike with direct writes and without",
        arguments: [true, false]
    )
    func records(writesDirectly: Bool) {
        let fixture = FeedPartitionFixture(FanOutConfiguration(writesDirectly: writesDirectly))
        goOnAir(fixture)
        let viewer = DirectConnection(fixture, sid: "r-1")
        var expected = "V0 A0 K0"
        for second in 1...7 {
            fixture.wait(1)
            fixture.send(Packets.frame(Int64(second) * 1_000))
            expected += " p\(second)000"
            #expect(fixture.audience.eventLog == (second < 5 ? ["opened r-1"] : ["opened r-1", "watched r-1"]))
        }
        let sent = fixture.counters.bytes.load(ordering: .relaxed)
        #expect(fixture.partition.sentBytes(by: viewer.viewer) == Int(sent))
        fixture.partition.remove(viewer.viewer, reason: .left, now: fixture.now)
        #expect(fixture.audience.eventLog == ["opened r-1", "watched r-1", "closed(left) r-1"])
        #expect(fixture.audience.events.last?.bytes == Int(sent))
        #expect(viewer.all() == expected)
    }

    @Test("queues media in order behind other data in the channel")
    func disableDirectWrite() {
        goOnAir()
        let (one, other) = (DirectConnection(fixture), DirectConnection(fixture))
        fixture.send(Packets.frame(40))
        fixture.send(Packets.frame(80))
        one.disableDirectWrite()
        fixture.send(Packets.frame(120))
        fixture.send(Packets.frame(160))
        one.enableDirectWrite()
        fixture.send(Packets.frame(200))
        fixture.send(Packets.frame(240))
        #expect(one.output.text == "V0 A0 K0 p40 p120 p160 p200")
        #expect(one.passed() == "p80 p240")
        #expect(other.passed() == "p80 p120 p160 p200 p240")
    }

    @Test("skips and closes a blocked viewer, with direct writes and without", arguments: [true, false])
    func blocked(writesDirectly: Bool) {
        let fixture = FeedPartitionFixture(FanOutConfiguration(writesDirectly: writesDirectly))
        goOnAir(fixture)
        let slow = DirectConnection(fixture)
        let quick = DirectConnection(fixture)
        fixture.send(Packets.frame(40))
        slow.disableDirectWrite()
        slow.viewer.updateWritability(false, now: fixture.now)
        slow.enableDirectWrite()
        for second in 1...17 {
            fixture.wait(1)
            fixture.send(Packets.frame(Int64(second) * 1_000))
        }
        #expect(slow.passed() == "")
        #expect(slow.output.tags.last?.timestamp == 5_000)
        #expect(slow.output.ends == [.tooSlow])
        #expect(fixture.counters.skips.load(ordering: .relaxed) == 1)
        #expect(quick.all().hasSuffix("p16000 p17000"))
        #expect(slow.viewer.partition == nil)
        #expect(slow.output.observer == nil)
    }

    @Test("records a viewer as watching after five seconds, and continues direct writes")
    func qualification() {
        goOnAir()
        let viewer = DirectConnection(fixture, sid: "r-1")
        for second in 1...7 {
            fixture.wait(1)
            fixture.send(Packets.frame(Int64(second) * 1_000))
            #expect(fixture.audience.eventLog == (second < 5 ? ["opened r-1"] : ["opened r-1", "watched r-1"]))
        }
        #expect(viewer.output.text == "V0 A0 K0 p1000 p5000")
        #expect(viewer.passed() == "p2000 p3000 p4000 p6000 p7000")
    }

    @Test("remaining viewers keep their own sockets", arguments: [[0, 1, 2, 3], [3, 1, 0, 2], [2, 0, 3, 1]])
    func leaving(order: [Int]) {
        goOnAir()
        let viewers = (0..<4).map { _ in DirectConnection(fixture) }
        fixture.send(Packets.frame(40))
        var gone: Set<Int> = []
        for number in order {
            fixture.partition.remove(viewers[number].viewer, reason: .left, now: fixture.now)
            gone.insert(number)
            // A late callback of a removed viewer does not affect others.
            viewers[number].viewer.directSocketChanged()
            fixture.send(Packets.frame(80))
            for (index, viewer) in viewers.enumerated() {
                #expect(viewer.passed() == (gone.contains(index) ? "" : "p80"))
            }
        }
    }

    @Test("passes the rest to the writer if the socket is full, and counts every byte once")
    func full() {
        goOnAir()
        let viewer = DirectConnection(fixture)
        fixture.send(Packets.frame(40))
        let before = viewer.output.buffers.count
        let start = fixture.counters.bytes.load(ordering: .relaxed)
        var sent = 0
        for number in 1...8 {
            fixture.send(Packets.frame(40 + Int64(number), bytes: 100_000))
            sent = Int(fixture.counters.bytes.load(ordering: .relaxed) - start)
        }
        let left = viewer.output.buffers[before...].reduce(0) { $0 + $1.readableBytes }
        #expect(left > 0)
        #expect(left < sent)
        #expect(sent > 800_000)
        #expect(sent < 801_000)
    }
}
