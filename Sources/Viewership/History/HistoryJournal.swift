/// What the history does not have yet.
struct HistoryJournal: Sendable {
    /// What was given out for one place of the dimensions.
    private struct Given: Sendable, Equatable {
        var counts = Cell.Counts.zero
        var live = 0
    }

    /// What of a place was counted in a minute before the one in which it is written.
    private struct Earlier {
        var watched: Int64 = 0
        var aired: Int64 = 0
        var joins = 0
        var leaves = PerReason.zero

        static func + (one: Earlier, other: Earlier) -> Earlier {
            Earlier(
                watched: one.watched + other.watched,
                aired: one.aired + other.aired,
                joins: one.joins + other.joins,
                leaves: one.leaves + other.leaves
            )
        }
    }

    /// By place, and by minutes since 1970.
    private typealias EarlierMinutes = [Dimensions: [Int64: Earlier]]

    /// Minutes before which nothing is dated back.
    private static let longestBack: Int64 = 120
    /// Steps that wait at most.
    private static let stepLimit = 65_536

    /// Somebody takes it away.
    var isKept = false
    var pending = HistoryBatch()
    /// Rises when counters end or are forgotten, so that an older cut is not taken for a newer one.
    private(set) var generation = 0
    private var given: [String: [Dimensions: Given]] = [:]
    /// The peaks of groups that were given out, of the latest minute.
    private var peaks: (minute: Int64, most: [GroupPeak: Int]) = (0, [:])
    private var written: [Int64: BroadcastRow] = [:]
    /// What was dated back since the last cut, and what of it belongs to a cut and waits to be written.
    private var earlier: [String: EarlierMinutes] = [:]
    private var cutEarlier: [String: EarlierMinutes] = [:]
    /// Rows of a cut.
    private var cutSessions = HistoryBatch()
    private var steps: [SessionStep] = []
    /// The watch time that is on disk, by room and place, and when that was said; nil before it was.
    private(set) var confirmed: (watch: [String: [Dimensions: Int64]], at: Int64)?

    /// Until when a later run takes this one to have lived, and when that was said; nil before it was.
    var promised: (until: Int64, at: Int64)?

    /// Adds what a room counted since the last time.
    ///
    /// - Parameter air: How much of the time since then the program was on the air.
    mutating func add(_ figures: RoomFigures, room: String, entry: RoomBook.Entry, air: AirTime, minute: Int64) {
        guard isKept else { return }
        for (dimensions, place) in figures.places {
            let before = given[room]?[dimensions] ?? Given()
            var counts = place.counts
            // A connection that is reported late as ended takes time back; the next seconds make up for it.
            counts.watch = max(counts.watch, before.counts.watch)
            let now = Given(counts: counts, live: place.live)
            guard now != before else { continue }
            given[room, default: [:]][dimensions] = now
            var change = counts - before.counts
            func row(_ minute: Int64) -> MinuteRow {
                MinuteRow(
                    key: .init(room: room, epoch: entry.epoch, minute: minute, dimensions: dimensions),
                    minimum: min(place.live, before.live),
                    maximum: max(place.live, before.live),
                    last: place.live
                )
            }
            for (minute, earlier) in (cutEarlier[room]?[dimensions] ?? [:]).sorted(by: { $0.key < $1.key }) {
                var row = row(minute)
                // Never more than was counted: an end that was told late took some of it back.
                row.watched = min(earlier.watched, change.watch)
                row.aired = min(earlier.aired, row.watched)
                row.joins = earlier.joins
                row.leaves = PerReason.allReasons.map { earlier.leaves[$0] }
                pending.add(row)
                change.watch -= row.watched
                change.joins -= earlier.joins
                change.leaves -= earlier.leaves
            }
            for (minute, watched) in air.minutes(of: change.watch, at: minute) where watched != 0 {
                var row = row(minute)
                row.watched = watched
                row.aired = air.part(of: watched)
                pending.add(row)
            }
            var row = row(minute)
            row.joins = change.joins
            row.leaves = PerReason.allReasons.map { change.leaves[$0] }
            row.switches = change.switches
            row.stalled = change.stalled
            row.startup = change.startup
            row.startups = change.startups
            pending.add(row)
        }
        cutEarlier[room] = nil
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

    /// Adds how many there were over all rooms: a row without a room, of no broadcast.
    mutating func addTotal(minimum: Int, maximum: Int, last: Int, minute: Int64) {
        guard isKept, maximum > 0 else { return }
        let key = MinuteRow.Key(room: "", epoch: 0, minute: minute, dimensions: nil)
        pending.add(MinuteRow(key: key, minimum: minimum, maximum: maximum, last: last))
    }

    /// Adds how many there are of each group, where that is more than was said of the minute.
    ///
    /// - Parameter epoch: 0 for all rooms together.
    mutating func add(_ groups: [ViewerGroup: Int], epoch: Int64, minute: Int64) {
        guard isKept else { return }
        if minute != peaks.minute { peaks = (minute, [:]) }
        for (group, live) in groups {
            let key = GroupPeak(epoch: epoch, minute: minute, group: group)
            guard live > peaks.most[key] ?? 0 else { continue }
            peaks.most[key] = live
            pending.add(key, live)
        }
    }

    /// Adds when the viewers by requests of a shard were last heard of; nothing of a shard that has none.
    mutating func add(_ hits: LastHits, shard: UInt8) {
        guard isKept, !hits.ages.isEmpty else { return }
        pending.lastHits[shard] = hits
    }

    mutating func add(_ counters: RunCounters) {
        guard isKept else { return }
        pending.counters = counters
    }

    mutating func add(_ row: BroadcastRow) {
        guard isKept, written[row.epoch] != row else { return }
        written[row.epoch] = row.ended == nil ? row : nil
        pending.broadcasts[row.epoch] = row
    }

    /// Adds that what is counted of a place belongs to an earlier minute.
    mutating func add(_ earlier: ShardOutput.Earlier, entry: RoomBook.Entry, wall: RoomBook.Wall) {
        guard isKept else { return }
        func note(at moment: Int64, _ change: (inout Earlier) -> Void) {
            change(
                &self.earlier[earlier.room, default: [:]][earlier.dimensions, default: [:]][
                    wall.date(of: moment) / 60_000,
                    default: Earlier()
                ]
            )
        }
        switch earlier.count {
        case .joined(let moment): note(at: moment) { $0.joins += 1 }
        case .left(let reason, let moment): note(at: moment) { $0.leaves[reason] += 1 }
        case .watched(let from, let to):
            var place = max(from, to - Self.longestBack * 60_000)
            while place < to {
                let end = min(to, wall.monotonic(of: (wall.date(of: place) / 60_000 + 1) * 60_000))
                let onAir = entry.onAir(from: place, to: end)
                note(at: place) { earlier in
                    earlier.watched += end - place
                    earlier.aired += onAir
                }
                place = end
            }
        }
    }

    mutating func add(_ step: SessionStep) {
        guard isKept, steps.count < Self.stepLimit else { return }
        steps.append(step)
    }

    /// There are steps that nobody has taken.
    var hasSteps: Bool { !steps.isEmpty }

    /// The steps since the last time.
    mutating func takeSteps() -> [SessionStep] {
        defer { steps.removeAll(keepingCapacity: true) }
        return steps
    }

    /// What was told until now belongs to the figures that are read at this moment, and what comes later to later ones.
    mutating func cut() {
        guard isKept else { return }
        for row in pending.sessions.values { cutSessions.add(row) }
        pending.sessions.removeAll()
        cutEarlier.merge(earlier) { one, other in
            one.merging(other) { $0.merging($1) { $0 + $1 } }
        }
        earlier.removeAll()
    }

    /// What was taken is on disk.
    mutating func confirm(at now: Int64) {
        confirmed = (given.mapValues { $0.mapValues(\.counts.watch) }, now)
    }

    /// What was counted by an earlier run is in the history already.
    mutating func restore(_ counts: Cell.Counts, room: String, dimensions: Dimensions) {
        given[room, default: [:]][dimensions, default: Given()].counts += counts
    }

    /// What was written is not there any more: broadcasts that go on are to be written as a whole again.
    mutating func repeatBroadcasts() {
        written = [:]
        peaks.most = [:]
    }

    mutating func forget(_ room: String) {
        given[room] = nil
        earlier[room] = nil
        cutEarlier[room] = nil
        generation += 1
    }

    mutating func ended() {
        generation += 1
    }

    /// Hands out what is there.
    mutating func take(asOf: Int64) -> HistoryBatch {
        var batch = HistoryBatch(asOf: asOf)
        swap(&batch, &pending)
        swap(&batch.sessions, &pending.sessions)
        batch.sessions = cutSessions.sessions
        batch.dropped += cutSessions.dropped
        cutSessions = HistoryBatch()
        batch.asOf = asOf
        return batch
    }
}
