import Stage

@testable import Viewership

/// What the ledger says beside what is true.
extension Oracle {
    func compare(_ totals: ViewershipTotals, _ truth: Truth.Range, _ verdict: inout Verdict) {
        for playback in Self.connectionKinds {
            let live = totals.total.byProtocol[playback] ?? 0
            if live < truth.low[playback] { verdict.belowTruth += 1 }
            if live > truth.low[playback] { verdict.aboveTruth += 1 }
        }
        for playback in Self.requestKinds {
            let live = totals.total.byProtocol[playback] ?? 0
            if live < truth.low[playback] { verdict.belowTruth += 1 }
            if live > truth.high[playback] { verdict.aboveTruth += 1 }
        }
        judgeIdentities(totals, &verdict)
    }

    func judgeIdentities(_ totals: ViewershipTotals, _ verdict: inout Verdict) {
        let sum = totals.rooms.map(\.concurrent).reduce(0, +)
        let peaks = totals.rooms.map(\.peak).reduce(0, +)
        if sum != totals.total.concurrent || totals.total.peak > peaks { verdict.identities += 1 }
        for figures in totals.rooms + [totals.total] where !figures.brokenIdentities.isEmpty { verdict.identities += 1 }
    }

    func judgeEnd(_ totals: ViewershipTotals, tolerance: Double, _ verdict: inout Verdict) {
        if totals.total.joins != players.count { verdict.joins += 1 }
        if totals.total.resumable != 0 || totals.total.leaves != totals.total.joins { verdict.leftOver += 1 }
        let truth = Double(players.map(\.watched).reduce(0, +)) / 1000
        if abs(totals.total.watchTimeSeconds / truth - 1) >= tolerance { verdict.watchTime += 1 }
    }
}
