import Stage
import Testing

@testable import Viewership

@Suite("Numbers that are added up together")
struct TallyTests {
    @Test("what was added can be taken away again, every number of it")
    func inverse() {
        var cell = Cell.Counts.zero
        (cell.joins, cell.switches, cell.watch) = (3, 5, 7_000)
        (cell.stalled, cell.startup, cell.startups) = (11, 13, 17)
        var tally = RoomTally.Counts.zero
        (tally.heard, tally.unseen) = (19, 23)
        for (number, reason) in PerReason.allReasons.enumerated() { cell.leaves[reason] = number + 1 }
        for (number, reason) in Exclusion.allCases.enumerated() { tally.excluded[reason] = number + 1 }
        #expect(cell.leaves.sum == 15 && tally.excluded.sum == 28)
        #expect(cell - cell == .zero && tally - tally == .zero)
        #expect(cell + cell - cell == cell && tally + tally - tally == tally)
        let twice = cell + cell
        #expect(twice.joins == 6 && twice.switches == 10 && twice.watch == 14_000 && twice.leaves.sum == 30)
        let both = tally + tally
        #expect(twice.stalled == 22 && twice.startup == 26 && twice.startups == 34)
        #expect(both.heard == 38 && both.unseen == 46)
        #expect(both.excluded.sum == 56)
        #expect(twice != cell && both != tally)
    }
}
