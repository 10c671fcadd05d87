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

    /// Of those whom a log tells of, the ledger knows how it was some time ago.
    func limit(_ range: inout Truth.Range, to log: LateLog, at now: Int) {
        let moment = now - log.lag
        for kind in Self.requestKinds { (range.low[kind], range.high[kind]) = (0, 0) }
        for player in players where !player.playback.isConnection {
            // One whose first line comes behind the next ones is proven a little later.
            if player.qualified <= moment - 4500, moment < player.leave { range.low[player.playback] += 1 }
            if player.qualified <= log.told, moment < player.leave + player.tail + 1000 {
                range.high[player.playback] += 1
            }
        }
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
        if totals.total.excluded[.noMedia] != lurkers.count { verdict.excluded += 1 }
        // Who switches while no gateway runs is found where it is then.
        if crash == nil, totals.total.switches != switches { verdict.switches += 1 }
    }

    /// Which of a player's playlists is the first whose line says where it is.
    static let placed = 5

    static func country(of player: Int) -> String { ["DE", "FR", "US"][player % 3] }

    /// What passes from the playlist before the one that tells where a player is counts there.
    func judgeRegions(_ stand: Stand, _ verdict: inout Verdict) {
        var truth: [String: Double] = [:]
        for (index, player) in players.enumerated() where player.polls.count > Self.placed {
            let (first, last) = (player.polls[Self.placed - 1], player.polls[player.polls.count - 1])
            let half = player.playback == .llhls ? 500 : 1000
            truth[Self.country(of: index), default: 0] += Double(last + half - first) / 1000
        }
        let samples = stand.ledger.metrics().first { $0.name == "footlight_viewer_watch_seconds_total" }?.samples ?? []
        for (country, watched) in truth {
            let here = samples.filter { sample in
                sample.labels.contains { $0.name == "region" && $0.value == country }
            }
            let counted = here.reduce(0) { $0 + $1.value }
            if abs(counted / watched - 1) >= 0.005 { verdict.regions += 1 }
        }
    }

    /// Seconds truly watched by all together.
    func truth(_ crash: Crash? = nil) -> Double {
        let watched = players.map { player in
            crash.map { player.watched(besides: $0.outage) } ?? player.watched
        }
        return Double(watched.reduce(0, +)) / 1000
    }
}
