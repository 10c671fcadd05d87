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
            book.journal.cut()
            return book.rooms
        }
        let figures = cut.figures()
        let groups = figures.mapValues(\.groups)
        return book.withLock { book in
            // A room ended meanwhile: what this cut says of it is older than what the history has. A second later then.
            if book.journal.generation == generation {
                let minute = minute(at: now)
                book.writeTotal(minute: minute)
                let lag = logLag.load(ordering: .relaxed)
                book.journal.add(RunCounters(startups: cut.startups, beats: cut.beats, logLag: lag > 0 ? lag : nil))
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

    /// The batch that was taken last is on disk; nothing else was taken since.
    ///
    /// From then on the time that viewers by requests watched is told as far as it is there, so that a kill takes nothing back.
    public func historyWritten() {
        let now = clock.now.milliseconds
        book.withLock { $0.journal.confirm(at: now) }
    }

    /// The steps of sessions since the last time, and until when this process says that it lives, milliseconds since 1970.
    ///
    /// To be called some twenty times a second, and to be written at once: a later run counts connections until then. It is
    /// `lead` ahead of the clock, so that nothing that was told of them is taken back.
    public func takeSteps() -> (livesUntil: Int64, steps: [SessionStep]) {
        let moment = wall.date(of: clock.now.milliseconds) + Self.lead
        return (moment, book.withLock { $0.journal.takeSteps() })
    }

    /// From now on `write`, which is to take the steps and write them, is called before figures are told that have some.
    ///
    /// It is called on the thread that asks for the figures.
    public func beforeTellingSteps(_ write: @escaping @Sendable () -> Void) {
        stepWriting.withLock { $0 = write }
    }

    /// What `takeSteps` handed out is written: of connections no more is told than until then.
    ///
    /// - Parameter moment: As `takeSteps` said it.
    public func stepsWritten(livesUntil moment: Int64) {
        let (promised, now) = (wall.monotonic(of: moment), clock.now.milliseconds)
        book.withLock { $0.journal.promised = (promised, now) }
    }

    /// Milliseconds, twice the time between two calls of `takeSteps`.
    private static let lead: Int64 = 100

    /// The history begins anew: the next batch holds every broadcast that is on.
    public func repeatBroadcasts() {
        book.withLock { $0.journal.repeatBroadcasts() }
    }

    /// Takes over what an earlier run left; to be called behind `keepHistory` and before anything happens.
    ///
    /// Joins that it counted are not counted again, counters go on where they were, and viewers by requests count until
    /// their time-out.
    public func restore(_ recovered: RecoveredAudience) {
        guard let lastWritten = recovered.lastSeen else { return }
        hasRestored.store(true, ordering: .relaxed)
        let now = clock.now.milliseconds
        let lastSeen = max(lastWritten, min(recovered.livedUntil ?? lastWritten, wall.date(of: now)))
        // What logs are still to tell is as late as it was.
        logsLag(milliseconds: recovered.logLag)
        let names = Dictionary(recovered.broadcasts.map { ($0.epoch, $0.room) }) { $1 }
        book.withLock { book in
            book.restore(recovered, at: now)
            for row in recovered.totals {
                guard let dimensions = row.key.dimensions else { continue }
                book.journal.restore(Cell.Counts(row), room: row.key.room, dimensions: dimensions)
            }
        }
        let sessions = recovered.sessions.filter { names[$0.epoch] != nil && $0.shard < SessionID.shardCount }
        let steps = Dictionary(grouping: recovered.steps, by: \.code)
        let connections = sessions.filter(\.dimensions.playback.isContinuous).map { row in
            Unwritten(row, (steps[row.code] ?? []).filter { $0.epoch == row.epoch }, from: lastWritten, to: lastSeen)
        }
        withShard(0) { shard in
            for row in recovered.totals {
                guard let dimensions = row.key.dimensions, names[row.key.epoch] != nil else { continue }
                shard.restore(Cell.Counts(row), room: row.key.room, dimensions: dimensions)
            }
            for row in recovered.broadcasts { shard.restore(RoomTally.Counts(row), room: row.room) }
            for connection in connections {
                for span in connection.spans {
                    let (from, to) = (wall.monotonic(of: span.lowerBound), wall.monotonic(of: span.upperBound))
                    let row = connection.row
                    shard.restoreWatch(from: from, to: to, room: row.room, dimensions: row.dimensions)
                }
            }
        }
        book.withLock { book in
            for gap in connections.flatMap(\.gaps) { book.journal.pending.add(gap) }
        }
        for row in connections.map(\.row) + sessions.filter({ !$0.dimensions.playback.isContinuous }) {
            let lastHit = recovered.lastHits[row.shard]?.moment(of: row.place)
            withShard(Int(row.shard)) { shard in
                shard.restore(
                    ShardOutput.Session(row, lastHit: lastHit, wall: wall),
                    lastSeen: wall.monotonic(of: lastSeen),
                    now: now
                )
            }
        }
        let known = Set(recovered.viewers.map(\.session))
        restore(recovered.steps.filter { !known.contains($0.code) }, names: names, lastSeen: lastSeen)
    }

    /// Takes over what was not written yet of sessions that came shortly before an earlier run ended.
    private func restore(_ steps: [SessionStep], names: [Int64: String], lastSeen: Int64) {
        let now = clock.now.milliseconds
        let end = wall.monotonic(of: lastSeen)
        for (code, steps) in Dictionary(grouping: steps.filter { $0.at <= lastSeen }, by: \.code) {
            let proof = steps.last { $0.kind == .proven }
            guard let step = proof ?? steps.last, let room = names[step.epoch], Int(step.shard) < SessionID.shardCount
            else { continue }
            switch step.kind {
            case .gone, .back: continue
            case .asked:
                withShard(Int(step.shard)) { shard in
                    shard.restoreNew(step, room: room, since: wall.monotonic(of: step.start), now: now)
                }
                continue
            case .opened, .proven: break
            }
            // The proof itself may have come too late to be written.
            let isProven = proof != nil || (5000..<5000 + 2 * Self.lead).contains(lastSeen - step.start)
            let isGone = steps.last?.kind == .gone
            withShard(Int(step.shard)) { shard in
                guard isProven else {
                    let start = wall.monotonic(of: step.start)
                    shard.interrupted[code] = (start, min(end, start + 5000))
                    return
                }
                shard.restore(
                    step,
                    room: room,
                    start: wall.monotonic(of: step.start),
                    lastHit: wall.monotonic(of: step.at),
                    end: isGone ? steps.last.map { wall.monotonic(of: $0.at) } ?? end : end,
                    lastSeen: end,
                    now: now
                )
            }
            if isProven { book.withLock { $0.arrived(in: room, step) } }
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

/// What a connection watched between the last write of an earlier run and its end.
private struct Unwritten {
    /// The session as it stood at the end.
    private(set) var row: SessionRow
    /// When it watched; milliseconds since 1970.
    private(set) var spans: [Range<Int64>] = []
    /// When it was away.
    private(set) var gaps: [GapRow] = []

    /// - Parameters:
    ///   - steps: The session's, in order.
    ///   - from: When the row was written.
    ///   - to: When the run was last known to live.
    init(_ row: SessionRow, _ steps: [SessionStep], from: Int64, to: Int64) {
        self.row = row
        var since = row.end == nil ? from : nil
        for step in steps where step.at > from && step.at <= to {
            switch step.kind {
            case .gone:
                guard let began = since, began <= step.at else { continue }
                watch(from: began, to: step.at)
                since = nil
                (self.row.end, self.row.reason) = (step.at, .left)
            case .back:
                guard since == nil, let end = self.row.end, end <= step.at else { continue }
                if end < step.at { gaps.append(GapRow(code: row.code, epoch: row.epoch, from: end, to: step.at)) }
                since = step.at
                (self.row.end, self.row.reason) = (nil, nil)
                self.row.watchedUntil = step.at
            case .opened, .proven, .asked: break
            }
        }
        // What is watched to the end is added to the row where it is put back.
        if let since, since < to { spans.append(since..<to) }
    }

    private mutating func watch(from: Int64, to: Int64) {
        row.watched += max(0, to - (row.watchedUntil ?? from))
        row.watchedUntil = nil
        if from < to { spans.append(from..<to) }
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
            viewer: ViewerKey(stored: row.viewer, isUser: row.isUser),
            isHeard: row.isHeard,
            isLogged: row.isLogged,
            reason: row.reason,
            isClosed: row.isClosed
        )
    }
}
