import Stage

@testable import Viewership

/// A history in memory, which reads as the one on disk does.
struct MemoryHistory {
    struct Place: Hashable {
        var code: UInt64
        var start: Int64
    }

    var lastSeen: Int64?
    var sessions: [Place: SessionRow] = [:]
    var gaps: [GapRow] = []
    /// The steps of sessions, and until when the process said that it lives.
    var steps: [SessionStep] = []
    var livedUntil: Int64?
    var minutes: [MinuteRow.Key: MinuteRow] = [:]
    var peaks: [GroupPeak: Int] = [:]
    var broadcasts: [Int64: BroadcastRow] = [:]
    var lastHits: [UInt8: LastHits] = [:]

    mutating func write(_ batch: HistoryBatch) {
        lastSeen = batch.asOf
        for var row in batch.sessions.values {
            let place = Place(code: row.code, start: row.start)
            if let former = row.formerStart {
                sessions[place] = sessions.removeValue(forKey: Place(code: row.code, start: former))
                row.formerStart = nil
            }
            row.estimate = row.estimate ?? sessions[place]?.estimate
            sessions[place] = row
        }
        gaps += batch.gaps
        for row in batch.minutes.values {
            if minutes[row.key] == nil { minutes[row.key] = row } else { minutes[row.key]?.append(row) }
        }
        peaks.merge(batch.peaks, uniquingKeysWith: max)
        broadcasts.merge(batch.broadcasts) { $1 }
        lastHits.merge(batch.lastHits) { $1 }
    }

    mutating func write(_ steps: (livesUntil: Int64, steps: [SessionStep])) {
        livedUntil = steps.livesUntil
        self.steps += steps.steps
    }

    /// A row for each place in the dimensions.
    func sums(epoch: Int64) -> [MinuteRow] {
        var sums: [MinuteRow.Key: MinuteRow] = [:]
        for row in minutes.values where row.key.epoch == epoch && row.key.dimensions != nil {
            var row = row
            row.key.minute = 0
            if sums[row.key] == nil { sums[row.key] = row } else { sums[row.key]?.append(row) }
        }
        return Array(sums.values)
    }

    /// The figures of a broadcast, as a report has them.
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

    /// The most sessions at once, walked through by beginnings and ends.
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
