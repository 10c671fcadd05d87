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

    func judgeEnd(_ totals: ViewershipTotals, _ crash: Crash?, _ verdict: inout Verdict) {
        if totals.total.joins != players.count { verdict.joins += 1 }
        if totals.total.resumable != 0 || totals.total.leaves != totals.total.joins { verdict.leftOver += 1 }
        if abs(totals.total.watchTimeSeconds / truth(crash) - 1) >= 0.005 { verdict.watchTime += 1 }
    }

    /// Seconds truly watched by all together.
    func truth(_ crash: Crash? = nil) -> Double {
        let watched = players.map { player in
            crash.map { player.watched(besides: $0.outage) } ?? player.watched
        }
        return Double(watched.reduce(0, +)) / 1000
    }
}
