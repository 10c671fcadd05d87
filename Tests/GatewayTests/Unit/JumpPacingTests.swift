import Media
import Testing

@testable import Gateway

@Suite("A program's jumps in time, as the log has them") struct JumpPacingTests {
    @Test("The first is told at once, those soon after it together with the next one that is told")
    func paced() {
        var pacing = JumpPacing()
        func at(_ seconds: Double) -> MonotonicTime { MonotonicTime(nanoseconds: 0).advanced(seconds: seconds) }
        #expect(pacing.look(at: 0, now: at(4)) == nil)
        #expect(pacing.look(at: 45, now: at(5)) == 45)
        #expect(pacing.look(at: 45, now: at(6)) == nil)
        #expect(pacing.look(at: 80, now: at(7)) == nil)
        #expect(pacing.look(at: 119, now: at(14.9)) == nil)
        #expect(pacing.look(at: 179, now: at(15)) == 134)
        #expect(pacing.look(at: 179, now: at(30)) == nil)
        #expect(pacing.look(at: 212, now: at(90)) == 33)
    }
}
