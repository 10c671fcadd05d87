@testable import FanOut
import Testing

@Suite("How many requests wait")
struct WaitBudgetTests {
    @Test("Each viewer has its share, nobody's requests count for all alone, and who leaves makes room")
    func shares() {
        let budget = WaitBudget((perSession: 2, total: 4))
        #expect(budget.enter("a") == nil)
        #expect(budget.enter("a") == nil)
        #expect(budget.enter("a") == .session)
        #expect(budget.enter(nil) == nil)
        #expect(budget.enter("b") == nil)
        #expect(budget.enter("c") == .total)
        #expect(budget.count == 4 && budget.refused == 2)
        budget.leave("a")
        #expect(budget.enter("a") == nil)
        for session in ["a", "a", nil, "b"] { budget.leave(session) }
        #expect(budget.count == 0)
        #expect(budget.enter("a") == nil)
    }
}
