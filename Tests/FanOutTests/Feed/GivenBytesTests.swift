@testable import FanOut
import Media
import NIOCore
import Stage
import Testing

@Suite("What a viewer was given, told when it leaves")
struct GivenBytesTests {
    private let stand = ShareStand()

    private func goOnAir() {
        stand.send(Packets.metadata(), Packets.video(), Packets.audio(), Packets.key(0), Packets.sound(10))
    }

    private func written(_ output: RecordingOutput) -> Int {
        output.buffers.reduce(0) { $0 + $1.readableBytes }
    }

    private func told(_ sid: String) -> Int? {
        stand.audience.events.last { $0.sid == sid && $0.kind == .closed(.left) }?.bytes
    }

    @Test("to the byte, for who was there before the media, who came later, and who was skipped forward")
    func exact() {
        let early = stand.join(sid: "r-1")
        goOnAir()
        let late = stand.join(.rtmp, sid: "r-2")
        let skipped = stand.join(sid: "r-3")
        for time in 1...20 as ClosedRange<Int64> { stand.send(Packets.picture(time * 40)) }
        skipped.viewer.noteWritability(false, now: stand.now)
        stand.wait(6)
        stand.send(Packets.picture(840))
        #expect(skipped.viewer.state == .waiting)
        skipped.viewer.noteWritability(true, now: stand.now)
        stand.send(Packets.picture(880), Packets.key(920), Packets.sound(930))
        #expect(skipped.viewer.state == .flowing)
        stand.send(Packets.picture(960))
        // What it has taken so far is known all the time: of one who says nothing that is the sign of life.
        for one in [early, late, skipped] { #expect(stand.share.taken(by: one.viewer) == written(one.output)) }
        for one in [early, late, skipped] { stand.share.remove(one.viewer, reason: .left, now: stand.now) }
        #expect(told("r-1") == written(early.output) && told("r-2") == written(late.output))
        #expect(told("r-3") == written(skipped.output))
        #expect(written(skipped.output) < written(early.output) && written(late.output) > 0)
    }

    @Test("what still waited for its socket was not sent; who never got any was sent nothing")
    func waiting() {
        goOnAir()
        let held = stand.join(sid: "r-1")
        held.output.hold()
        stand.send(Packets.picture(40), Packets.sound(50))
        let waiting = held.output.waitingBytes
        #expect(waiting > 0 && stand.share.taken(by: held.viewer) == written(held.output) - waiting)
        stand.share.remove(held.viewer, reason: .left, now: stand.now)
        #expect(told("r-1") == written(held.output) - waiting)
        let silent = ShareStand()
        let viewer = silent.join(sid: "r-2").viewer
        silent.share.remove(viewer, reason: .left, now: silent.now)
        #expect(silent.audience.events.last?.bytes == 0)
    }
}
