import Media
import Stage
import Synchronization

/// What the ledger gives to the history, and takes from it.
extension ViewershipLedger {
    /// From now on what happens is kept until `takeHistory` takes it away.
    public func keepHistory() {
        book.withLock { $0.journal.isKept = true }
    }

    /// What changed since the last time; to be called once a second, and to be written in one transaction.
    public func takeHistory() -> HistoryBatch {
        let now = clock.now
        var generation = 0
        let cut = cut(at: now, hasLastHits: true) { book in
            generation = book.journal.generation
            return book.rooms
        }
        let figures = cut.figures()
        let groups = figures.mapValues(\.groups)
        return book.withLock { book in
            // A room ended meanwhile: what this cut says of it is older than what the history has. A second later then.
            if book.journal.generation == generation {
                let minute = minute(at: now)
                book.writeTotal(minute: minute)
                book.journal.add(RunCounters(startups: cut.startups, beats: cut.beats))
                for (shard, ages) in cut.lastHits.enumerated() {
                    let hits = LastHits(asOf: wall.date(of: now.milliseconds), ages: ages)
                    book.journal.add(hits, shard: UInt8(shard))
                }
                var all: [ViewerGroup: Int] = [:]
                for (room, entry) in book.rooms where entry.ended == nil {
                    let figures = figures[room] ?? RoomFigures()
                    all.merge(groups[room] ?? [:], uniquingKeysWith: +)
                    book.journal.add(groups[room] ?? [:], epoch: entry.epoch, minute: minute)
                    let air = book.air(of: room, until: now.milliseconds)
                    book.journal.add(figures, room: room, entry: entry, air: air, minute: minute)
                    book.journal.add(row(room, entry, figures, at: now))
                    book.noteWritten(room, at: now.milliseconds)
                }
                book.journal.add(all, epoch: 0, minute: minute)
            }
            return book.journal.take(asOf: wall.date(of: now.milliseconds))
        }
    }

    /// The history begins anew: the next batch holds every broadcast that is on.
    public func repeatBroadcasts() {
        book.withLock { $0.journal.repeatBroadcasts() }
    }

    /// Takes over what an earlier run left; to be called behind `keepHistory` and before anything happens.
    ///
    /// Joins that it counted are not counted again, counters go on where they were, and viewers by requests count until
    /// their time-out.
    public func restore(_ recovered: RecoveredAudience) {
        guard let lastSeen = recovered.lastSeen else { return }
        hasRestored.store(true, ordering: .relaxed)
        let now = clock.now.milliseconds
        let names = Dictionary(recovered.broadcasts.map { ($0.epoch, $0.room) }) { $1 }
        book.withLock { book in
            book.restore(recovered, at: now)
            for row in recovered.totals {
                guard let dimensions = row.key.dimensions else { continue }
                book.journal.restore(Cell.Counts(row), room: row.key.room, dimensions: dimensions)
            }
        }
        withShard(0) { shard in
            for row in recovered.totals {
                guard let dimensions = row.key.dimensions, names[row.key.epoch] != nil else { continue }
                shard.restore(Cell.Counts(row), room: row.key.room, dimensions: dimensions)
            }
            for row in recovered.broadcasts { shard.restore(RoomTally.Counts(row), room: row.room) }
        }
        for row in recovered.sessions where names[row.epoch] != nil && row.shard < SessionID.shardCount {
            let lastHit = recovered.lastHits[row.shard]?.moment(of: row.place)
            withShard(Int(row.shard)) { shard in
                shard.restore(
                    ShardOutput.Session(row, lastHit: lastHit, wall: wall),
                    lastSeen: wall.monotonic(of: lastSeen),
                    now: now
                )
            }
        }
    }

    func row(_ room: String, _ entry: RoomBook.Entry, _ figures: RoomFigures, at now: MonotonicTime) -> BroadcastRow {
        let tally = figures.tally.counts - figures.tally.baseline
        return BroadcastRow(
            epoch: entry.epoch,
            room: room,
            roomSID: entry.roomSID,
            began: wall.date(of: entry.began),
            ended: entry.ended.map { wall.date(of: $0.at) },
            onAir: entry.onAir(at: now.milliseconds),
            peak: entry.peak,
            peakAt: entry.peakAt.map { wall.date(of: $0) },
            uniques: entry.uniques.figures,
            heard: tally.heard,
            unseen: tally.unseen,
            excluded: Exclusion.allCases.map { tally.excluded[$0] }
        )
    }
}

extension Cell.Counts {
    fileprivate init(_ row: MinuteRow) {
        self.init()
        joins = row.joins
        switches = row.switches
        watch = row.watched
        stalled = row.stalled
        startup = row.startup
        startups = row.startups
        for (reason, count) in zip(PerReason.allReasons, row.leaves) { leaves[reason] = count }
    }
}

extension RoomTally.Counts {
    fileprivate init(_ row: BroadcastRow) {
        self.init()
        heard = row.heard
        unseen = row.unseen
        for (reason, count) in zip(Exclusion.allCases, row.excluded) { excluded[reason] = count }
    }
}

extension ShardOutput.Session {
    fileprivate init(_ row: SessionRow, lastHit: Int64?, wall: RoomBook.Wall) {
        self.init(
            code: row.code,
            shard: row.shard,
            room: row.room,
            start: wall.monotonic(of: row.start),
            end: row.end.map { wall.monotonic(of: $0) },
            watched: UInt32(clamping: row.watched),
            watchedUntil: row.watchedUntil.map { wall.monotonic(of: $0) },
            lastHit: lastHit.map { wall.monotonic(of: $0) },
            poll: UInt16(clamping: row.poll),
            stalled: UInt32(clamping: row.stalled),
            playback: row.dimensions.playback,
            rendition: row.dimensions.rendition,
            renditions: row.renditions,
            region: row.dimensions.region,
            client: row.dimensions.client,
            switches: UInt8(clamping: row.switches),
            bytes: row.bytes,
            viewer: row.viewer.map { ViewerKey(value: $0, kind: row.isUser ? .user : .device) },
            isHeard: row.isHeard,
            reason: row.reason,
            isClosed: row.isClosed
        )
    }
}
