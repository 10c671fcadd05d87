import Glibc
import Media
import NIOCore
import RTMP
import Stage
import Synchronization
import Testing

@testable import FanOut

@Suite("Viewers whose sockets are written to without their writers")
struct StraightViewerTests {
    /// A viewer that lets itself be passed by, and the far end of its socket.
    private final class Straight {
        let viewer: Viewer
        let output: RecordingOutput
        private let near: CInt
        private let far: CInt

        init(_ stand: ShareStand, sid: String? = nil) {
            var ends: [CInt] = [-1, -1]
            socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0, &ends)
            (near, far) = (ends[0], ends[1])
            (viewer, output) = stand.join(sid: sid)
            output.straightSocket = near
        }

        deinit {
            close(near)
            close(far)
        }

        /// What came past the writer, as FLV tags.
        func passed() -> String {
            var bytes = [UInt8](repeating: 0, count: 1 << 20)
            let count = recv(far, &bytes, bytes.count, CInt(MSG_DONTWAIT))
            let tags = FLVTag.read(ByteBuffer(bytes: bytes.prefix(max(count, 0)))) ?? []
            return tags.map(\.description).joined(separator: " ")
        }

        /// Something else waits in its channel.
        func detour() {
            output.straightSocket = nil
            output.watcher?.straightSocketChanged()
        }

        func backOnTheSocket() { output.straightSocket = near }
    }

    private let stand = ShareStand()

    private func goOnAir() {
        stand.send(Packets.video(), Packets.audio(), Packets.key(0))
    }

    @Test("A viewer that has caught up is sent to straight; its writer gets the start and one batch")
    func straight() {
        goOnAir()
        let viewers = (0..<3).map { _ in Straight(stand) }
        stand.send(Packets.picture(40))
        stand.send(Packets.picture(80))
        stand.send(Packets.picture(120), Packets.sound(130))
        for viewer in viewers {
            #expect(viewer.output.text == "V0 A0 K0 p40")
            #expect(viewer.passed() == "p80 p120 s130")
        }
    }

    @Test("While something waits in its channel, a viewer's media waits behind it, in order")
    func detour() {
        goOnAir()
        let (one, other) = (Straight(stand), Straight(stand))
        stand.send(Packets.picture(40))
        stand.send(Packets.picture(80))
        one.detour()
        stand.send(Packets.picture(120))
        stand.send(Packets.picture(160))
        one.backOnTheSocket()
        stand.send(Packets.picture(200))
        stand.send(Packets.picture(240))
        #expect(one.output.text == "V0 A0 K0 p40 p120 p160 p200")
        #expect(one.passed() == "p80 p240")
        #expect(other.passed() == "p80 p120 p160 p200 p240")
    }

    @Test("A viewer who takes nothing is skipped and closed as ever")
    func blocked() {
        goOnAir()
        let slow = Straight(stand)
        let quick = Straight(stand)
        stand.send(Packets.picture(40))
        slow.detour()
        slow.viewer.noteWritability(false, now: stand.now)
        slow.backOnTheSocket()
        for second in 1...17 {
            stand.wait(1)
            stand.send(Packets.picture(Int64(second) * 1_000))
        }
        #expect(slow.passed() == "")
        #expect(slow.output.tags.last?.timestamp == 5_000)
        #expect(slow.output.ends == [.tooSlow])
        #expect(stand.counters.skips.load(ordering: .relaxed) == 1)
        #expect(quick.passed().hasSuffix("p16000 p17000"))
        #expect(slow.viewer.share == nil)
        #expect(slow.output.watcher == nil)
    }

    @Test("A viewer who is sent to straight counts after five seconds, and goes on straight")
    func qualification() {
        goOnAir()
        let viewer = Straight(stand, sid: "r-1")
        for second in 1...7 {
            stand.wait(1)
            stand.send(Packets.picture(Int64(second) * 1_000))
            #expect(stand.audience.story == (second < 5 ? ["opened r-1"] : ["opened r-1", "watched r-1"]))
        }
        #expect(viewer.output.text == "V0 A0 K0 p1000 p5000")
        #expect(viewer.passed() == "p2000 p3000 p4000 p6000 p7000")
    }

    @Test("Those who stay keep their own sockets", arguments: [[0, 1, 2, 3], [3, 1, 0, 2], [2, 0, 3, 1]])
    func leaving(order: [Int]) {
        goOnAir()
        let viewers = (0..<4).map { _ in Straight(stand) }
        stand.send(Packets.picture(40))
        var gone: Set<Int> = []
        for number in order {
            stand.share.remove(viewers[number].viewer, reason: .left, now: stand.now)
            gone.insert(number)
            // Too late to mean anybody who is still there.
            viewers[number].viewer.straightSocketChanged()
            stand.send(Packets.picture(80))
            for (index, viewer) in viewers.enumerated() {
                #expect(viewer.passed() == (gone.contains(index) ? "" : "p80"))
            }
        }
    }

    @Test("What a full socket did not take goes to the writer, and every byte is counted once")
    func full() {
        goOnAir()
        let viewer = Straight(stand)
        stand.send(Packets.picture(40))
        let before = viewer.output.buffers.count
        let start = stand.counters.bytes.load(ordering: .relaxed)
        var sent = 0
        for number in 1...8 {
            stand.send(Packets.picture(40 + Int64(number), bytes: 100_000))
            sent = Int(stand.counters.bytes.load(ordering: .relaxed) - start)
        }
        let left = viewer.output.buffers[before...].reduce(0) { $0 + $1.readableBytes }
        #expect(left > 0)
        #expect(left < sent)
        #expect(sent > 800_000)
        #expect(sent < 801_000)
    }
}
