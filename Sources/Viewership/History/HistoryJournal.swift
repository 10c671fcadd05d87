/// What the history does not have yet.
struct HistoryJournal: Sendable {
    /// What was given out for one place of the dimensions.
    private struct Given: Sendable, Equatable {
        var counts = Cell.Counts.zero
        var live = 0
    }

    /// Somebody takes it away.
    var isKept = false
    var pending = HistoryBatch()
    /// Rises when counters end or are forgotten, so that an older cut is not taken for a newer one.
    private(set) var generation = 0
    private var given: [String: [Dimensions: Given]] = [:]
    /// The peaks of groups that were given out, of the latest minute.
    private var peaks: (minute: Int64, most: [GroupPeak: Int]) = (0, [:])
    private var written: [Int64: BroadcastRow] = [:]

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
            let change = counts - before.counts
            pending.add(
                MinuteRow(
                    key: .init(room: room, epoch: entry.epoch, minute: minute, dimensions: dimensions),
                    watched: change.watch,
                    aired: air.part(of: change.watch),
                    joins: change.joins,
                    leaves: PerReason.allReasons.map { change.leaves[$0] },
                    switches: change.switches,
                    stalled: change.stalled,
                    startup: change.startup,
                    startups: change.startups,
                    minimum: min(place.live, before.live),
                    maximum: max(place.live, before.live),
                    last: place.live
                )
            )
        }
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
        generation += 1
    }

    mutating func ended() {
        generation += 1
    }

    /// Hands out what is there.
    mutating func take(asOf: Int64) -> HistoryBatch {
        var batch = HistoryBatch(asOf: asOf)
        swap(&batch, &pending)
        batch.asOf = asOf
        return batch
    }
}
