import Stage

@testable import Viewership

/// A history in memory with the semantics of the stored one.
struct InMemoryHistory {
    struct RowKey: Hashable {
        var code: UInt64
        var start: Int64
    }

    var lastSeen: Int64?
    var sessions: [RowKey: SessionRow] = [:]
    var gaps: [GapRow] = []
    /// The session steps, and the time until which the process declared to live.
    var steps: [SessionStep] = []
    var livedUntil: Int64?
    var minutes: [MinuteRow.Key: MinuteRow] = [:]
    var peaks: [GroupPeak: Int] = [:]
    var broadcasts: [Int64: BroadcastRow] = [:]
    var lastHits: [UInt8: LastHits] = [:]

    mutating func write(_ batch: HistoryBatch) {
        lastSeen = batch.asOf
        for var row in batch.sessions.values {
            let key = RowKey(code: row.code, start: row.start)
            if let former = row.previousStart {
                sessions[key] = sessions.removeValue(forKey: RowKey(code: row.code, start: former))
                row.previousStart = nil
            }
            row.estimate = row.estimate ?? sessions[key]?.estimate
            sessions[key] = row
        }
        gaps += batch.gaps
        for row in batch.minutes.values {
            if minutes[row.key] == nil { minutes[row.key] = row } else { minutes[row.key]?.append(row) }
        }
        peaks.merge(batch.peaks, uniquingKeysWith: max)
        broadcasts.merge(batch.broadcasts) { $1 }
        lastHits.merge(batch.lastHits) { $1 }
    }

    mutating func write(_ steps: (aliveUntil: Int64, steps: [SessionStep])) {
        livedUntil = steps.aliveUntil
        self.steps += steps.steps
    }

    /// Returns a row per cell of the dimensions.
    func sums(epoch: Int64) -> [MinuteRow] {
        var sums: [MinuteRow.Key: MinuteRow] = [:]
        for row in minutes.values where row.key.epoch == epoch && row.key.dimensions != nil {
            var row = row
            row.key.minute = 0
            if sums[row.key] == nil { sums[row.key] = row } else { sums[row.key]?.append(row) }
        }
        return Array(sums.values)
    }

    /// Returns the report of a broadcast.
    func figures(of broadcast: BroadcastRow) -> BroadcastFigures {
        BroadcastFigures(
            broadcast: broadcast,
            sums: sums(epoch: broadcast.epoch),
            now: lastSeen ?? 0
        )
    }

    var recovered: RecoveredAudience {
        let open = broadcasts.values.filter { $0.ended == nil }
        let epochs = Set(open.map(\.epoch))
        let rows = sessions.values.filter { epochs.contains($0.epoch) }
        let total = minutes.values.filter { $0.key.epoch == 0 }.max { $0.maximum < $1.maximum }
        var recovered = RecoveredAudience(
            lastSeen: lastSeen,
            broadcasts: Array(open),
            totals: epochs.flatMap { sums(epoch: $0) },
            sessions: rows.filter { !$0.isClosed },
            viewers: rows.map { row in
                .init(
                    epoch: row.epoch,
                    session: row.code,
                    viewer: row.viewer,
                    isUser: row.isUser,
                    estimate: row.estimate
                )
            }
        )
        recovered.lastHits = lastHits
        recovered.livedUntil = livedUntil
        recovered.steps = steps.filter { $0.at > (lastSeen ?? 0) - 7000 }
        recovered.totalPeak = total.map { ($0.maximum, $0.key.minute * 60_000) }
        return recovered
    }

    /// Returns the peak of concurrent sessions, by a sweep over starts and ends.
    func settledPeak(epoch: Int64) -> Int {
        var moves: [(at: Int64, change: Int)] = []
        for row in sessions.values where row.epoch == epoch {
            moves.append((row.start, 1))
            if let end = row.end { moves.append((end, -1)) }
        }
        for gap in gaps where gap.epoch == epoch {
            moves.append((gap.from, -1))
            moves.append((gap.to, 1))
        }
        var (live, peak) = (0, 0)
        for move in moves.sorted(by: { ($0.at, $0.change) < ($1.at, $1.change) }) {
            live += move.change
            peak = max(peak, live)
        }
        return peak
    }
}
