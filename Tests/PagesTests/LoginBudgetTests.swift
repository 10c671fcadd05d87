import Media
import Testing

@testable import Pages

@Suite("Tries to log in")
struct LoginBudgetTests {
    private let start = MonotonicTime(nanoseconds: 1_000_000_000)

    @Test("An address has five tries at once and one each ten seconds, whatever others do")
    func budget() {
        var budget = LoginBudget()
        for _ in 0..<5 { #expect(budget.take(from: "a", now: start) == nil) }
        #expect(budget.take(from: "a", now: start) == 10)
        #expect(budget.take(from: "b", now: start) == nil)
        #expect(budget.take(from: "a", now: start.advanced(seconds: 4)) == 6)
        #expect(budget.take(from: "a", now: start.advanced(seconds: 10)) == nil)
        #expect(budget.take(from: "a", now: start.advanced(seconds: 10)) == 10)
    }

    @Test("A good try costs nothing")
    func success() {
        var budget = LoginBudget()
        for _ in 0..<50 {
            #expect(budget.take(from: "a", now: start) == nil)
            budget.giveBack(to: "a", now: start)
        }
    }

    @Test("A crowd of addresses is forgotten rather than kept without bound")
    func crowd() {
        var budget = LoginBudget()
        for number in 0..<(2 * LoginBudget.capacity) {
            #expect(budget.take(from: "\(number)", now: start.advanced(milliseconds: Int64(number))) == nil)
        }
        let now = start.advanced(milliseconds: Int64(2 * LoginBudget.capacity))
        #expect(budget.take(from: "again", now: now) == nil)
    }
}
