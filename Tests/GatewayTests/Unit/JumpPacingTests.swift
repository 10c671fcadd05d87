import Media
import Testing

@testable import Gateway

@Suite("A program's jumps in time, as the log has them") struct JumpPacingTests {
    @Test("The first is told at once, those soon after it together with the next one that is told")
    func paced() {
        var pacing = JumpPacing()
        func at(_ seconds: Double) -> MonotonicTime { MonotonicTime(nanoseconds: 0).advanced(seconds: seconds) }
        #expect(pacing.jumped(milliseconds: 1500, now: at(5)) == JumpPacing.News(jumps: 1, milliseconds: 1500))
        #expect(pacing.jumped(milliseconds: 1200, now: at(7)) == nil)
        #expect(pacing.jumped(milliseconds: 1300, now: at(14.9)) == nil)
        #expect(pacing.jumped(milliseconds: 2000, now: at(15)) == JumpPacing.News(jumps: 3, milliseconds: 4500))
        #expect(pacing.jumped(milliseconds: 1100, now: at(90)) == JumpPacing.News(jumps: 1, milliseconds: 1100))
    }
}
