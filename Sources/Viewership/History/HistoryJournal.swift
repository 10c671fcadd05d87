import Stage

/// Collects the changes that the history does not have yet.
struct HistoryJournal: Sendable {
    /// The counts of a cell that were emitted so far.
    private struct Emitted: Sendable, Equatable {
        var counts = AudienceCounts.zero
        var live = 0
    }

    /// Counts of a cell that belong to a minute before the current one.
    private struct Earlier {
        var counts = AudienceCounts.zero
        var aired: Int64 = 0

        static func + (one: Earlier, other: Earlier) -> Earlier {
            Earlier(counts: one.counts + other.counts, aired: one.aired + other.aired)
        }
    }

    /// Backdated counts by cell, and by minutes since 1970.
    private typealias EarlierMinutes = [Dimensions: [Int64: Earlier]]

    /// The maximum backdating, in minutes.
    private static let backdatingLimit: Int64 = 120
    /// The maximum number of pending steps.
    private static let stepLimit = 65_536

    /// Whether changes are collected.
    var isEnabled = false
    var pending = HistoryBatch()
    /// Incremented when counters end or are removed, so that an older snapshot is not mistaken for a newer one.
    private(set) var generation = 0
    private var emitted: [String: [Dimensions: Emitted]] = [:]
    /// The group peaks that were emitted for the latest minute.
    private var peaks: (minute: Int64, most: [GroupPeak: Int]) = (0, [:])
    private var written: [Int64: BroadcastRow] = [:]
    /// Backdated counts since the last snapshot, and those that belong to a snapshot and are to be written.
    private var earlier: [String: EarlierMinutes] = [:]
    private var snapshotEarlier: [String: EarlierMinutes] = [:]
    /// Session rows of a snapshot.
    private var snapshotSessions = HistoryBatch()
    private var steps: [SessionStep] = []
    /// The watch time that is on disk, by room and cell, and when it was confirmed.
    private(set) var confirmed: (watch: [String: [Dimensions: Int64]], at: Int64)?

    /// The time until which the next run assumes this process to have lived, and when it was written.
    var declaredAlive: (until: Int64, at: Int64)?

    /// Adds the counts of a room since the last call.
    ///
    /// - Parameter air: The time on air since then.
    mutating func add(_ figures: RoomFigures, room: String, entry: RoomReports.Entry, air: AirTime, minute: Int64) {
        guard isEnabled else { return }
        for (dimensions, cell) in figures.cells {
            let before = emitted[room]?[dimensions] ?? Emitted()
            var counts = cell.counts
            // A late end of a connection reduces its watch time; the next seconds make up for it.
            counts.watched = max(counts.watched, before.counts.watched)
            let now = Emitted(counts: counts, live: cell.live)
            guard now != before else { continue }
            emitted[room, default: [:]][dimensions] = now
            var change = counts - before.counts
            func row(_ minute: Int64) -> MinuteRow {
                MinuteRow(
                    key: .init(room: room, epoch: entry.epoch, minute: minute, dimensions: dimensions),
                    minimum: min(cell.live, before.live),
                    maximum: max(cell.live, before.live),
                    last: cell.live
                )
            }
            for (minute, earlier) in (snapshotEarlier[room]?[dimensions] ?? [:]).sorted(by: { $0.key < $1.key }) {
                var row = row(minute)
                // Limited to the counted time, which a late end may have reduced.
                row.counts = earlier.counts
                row.counts.watched = min(earlier.counts.watched, change.watched)
                row.aired = min(earlier.aired, row.counts.watched)
                pending.add(row)
                change -= row.counts
            }
            for (minute, watched) in air.minutes(of: change.watched, at: minute) where watched != 0 {
                var row = row(minute)
                row.counts.watched = watched
                row.aired = air.part(of: watched)
                pending.add(row)
            }
            var row = row(minute)
            row.counts = change
            row.counts.watched = 0
            pending.add(row)
        }
        snapshotEarlier[room] = nil
        for (minute, onAir) in air.minutes {
            let key = MinuteRow.Key(room: room, epoch: entry.epoch, minute: minute, dimensions: nil)
            pending.add(MinuteRow(key: key, aired: onAir, minimum: entry.lowest, last: entry.live))
        }
        guard entry.highest > 0 else { return }
        pending.add(
            MinuteRow(
                key: .init(room: room, epoch: entry.epoch, minute: minute, dimensions: nil),
                minimum: entry.lowest,
                maximum: entry.highest,
                last: entry.live
            )
        )
    }

    /// Adds the concurrent viewers over all rooms, as a row without room and broadcast.
    mutating func addTotal(minimum: Int, maximum: Int, last: Int, minute: Int64) {
        guard isEnabled, maximum > 0 else { return }
        let key = MinuteRow.Key(room: "", epoch: 0, minute: minute, dimensions: nil)
        pending.add(MinuteRow(key: key, minimum: minimum, maximum: maximum, last: last))
    }

    /// Adds the concurrent viewers of each group that exceed the peak of the minute so far.
    ///
    /// - Parameter epoch: The broadcast; 0 for all rooms together.
    mutating func add(_ groups: [ViewerGroup: Int], epoch: Int64, minute: Int64) {
        guard isEnabled else { return }
        if minute != peaks.minute { peaks = (minute, [:]) }
        for (group, live) in groups {
            let key = GroupPeak(epoch: epoch, minute: minute, group: group)
            guard live > peaks.most[key] ?? 0 else { continue }
            peaks.most[key] = live
            pending.add(key, live)
        }
    }

    /// Adds the last requests of a shard's HLS viewers, unless it has none.
    mutating func add(_ hits: LastHits, shard: UInt8) {
        guard isEnabled, !hits.ages.isEmpty else { return }
        pending.lastHits[shard] = hits
    }

    mutating func add(_ counters: RunCounters) {
        guard isEnabled else { return }
        pending.counters = counters
    }

    mutating func add(_ row: BroadcastRow) {
        guard isEnabled, written[row.epoch] != row else { return }
        written[row.epoch] = row.ended == nil ? row : nil
        pending.broadcasts[row.epoch] = row
    }

    /// Adds counts that belong to an earlier minute.
    mutating func add(_ earlier: ShardOutput.Earlier, entry: RoomReports.Entry, wallClock: RoomReports.WallClock) {
        guard isEnabled else { return }
        func addEarlier(at moment: Int64, _ change: (inout Earlier) -> Void) {
            change(
                &self.earlier[earlier.room, default: [:]][earlier.dimensions, default: [:]][
                    wallClock.date(of: moment) / 60_000,
                    default: Earlier()
                ]
            )
        }
        switch earlier.count {
        case .joined(let moment): addEarlier(at: moment) { $0.counts.joins += 1 }
        case .left(let reason, let moment): addEarlier(at: moment) { $0.counts.leaves[reason] += 1 }
        case .watched(let from, let to):
            var moment = max(from, to - Self.backdatingLimit * 60_000)
            while moment < to {
                let end = min(to, wallClock.monotonic(of: (wallClock.date(of: moment) / 60_000 + 1) * 60_000))
                let onAir = entry.onAir(from: moment, to: end)
                addEarlier(at: moment) { earlier in
                    earlier.counts.watched += end - moment
                    earlier.aired += onAir
                }
                moment = end
            }
        }
    }

    mutating func add(_ step: SessionStep) {
        guard isEnabled, steps.count < Self.stepLimit else { return }
        steps.append(step)
    }

    /// Whether there are steps to write.
    var hasSteps: Bool { !steps.isEmpty }

    /// Removes and returns the pending steps.
    mutating func drainSteps() -> [SessionStep] {
        defer { steps.removeAll(keepingCapacity: true) }
        return steps
    }

    /// Assigns the pending sessions and backdated counts to the snapshot that is taken now.
    mutating func snapshot() {
        guard isEnabled else { return }
        for row in pending.sessions.values { snapshotSessions.add(row) }
        pending.sessions.removeAll()
        snapshotEarlier.merge(earlier) { one, other in
            one.merging(other) { $0.merging($1) { $0 + $1 } }
        }
        earlier.removeAll()
    }

    /// Records that the drained batch is on disk.
    mutating func confirm(at now: Int64) {
        confirmed = (emitted.mapValues { $0.mapValues(\.counts.watched) }, now)
    }

    /// Records counts of an earlier run, which are in the history already.
    mutating func restore(_ counts: AudienceCounts, room: String, dimensions: Dimensions) {
        emitted[room, default: [:]][dimensions, default: Emitted()].counts += counts
    }

    /// Prepares to write all broadcasts in progress again, after the database was replaced.
    mutating func rewriteBroadcasts() {
        written = [:]
        peaks.most = [:]
    }

    mutating func remove(_ room: String) {
        emitted[room] = nil
        earlier[room] = nil
        snapshotEarlier[room] = nil
        generation += 1
    }

    mutating func ended() {
        generation += 1
    }

    /// Removes and returns the pending batch.
    mutating func drain(asOf: Int64) -> HistoryBatch {
        var batch = HistoryBatch(asOf: asOf)
        swap(&batch, &pending)
        swap(&batch.sessions, &pending.sessions)
        batch.sessions = snapshotSessions.sessions
        batch.dropped += snapshotSessions.dropped
        snapshotSessions = HistoryBatch()
        batch.asOf = asOf
        return batch
    }
}
