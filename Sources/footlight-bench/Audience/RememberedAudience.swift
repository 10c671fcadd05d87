import Viewership

/// What a disk would hold of a ledger: enough to begin another one where the first was killed.
struct RememberedAudience {
    private var lastSeen: Int64?
    private var broadcasts: [Int64: BroadcastRow] = [:]
    private var totals: [MinuteRow.Key: MinuteRow] = [:]
    private var sessions: [UInt64: SessionRow] = [:]

    mutating func write(_ batch: HistoryBatch) {
        lastSeen = batch.asOf
        broadcasts.merge(batch.broadcasts) { $1 }
        for row in batch.sessions.values { sessions[row.code] = row.isClosed ? nil : row }
        for var row in batch.minutes.values where row.key.dimensions != nil {
            row.key.minute = 0
            guard var sum = totals[row.key] else {
                totals[row.key] = row
                continue
            }
            sum.watched += row.watched
            sum.joins += row.joins
            sum.switches += row.switches
            sum.leaves = zip(sum.leaves, row.leaves).map(+)
            totals[row.key] = sum
        }
    }

    /// What the next ledger is given.
    func recovered(_ mutant: AudienceMutant?) -> RecoveredAudience {
        var sessions = mutant == .joinsAgain ? [] : Array(sessions.values)
        if mutant == .lostPollAtKill {
            for index in sessions.indices where sessions[index].watchedUntil != nil {
                sessions[index].watchedUntil = lastSeen
            }
        }
        return RecoveredAudience(
            lastSeen: lastSeen,
            broadcasts: Array(broadcasts.values),
            totals: Array(totals.values),
            sessions: sessions
        )
    }
}
