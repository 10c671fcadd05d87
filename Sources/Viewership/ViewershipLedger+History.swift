import Media
import Stage
import Synchronization

/// Exchange with the history store.
extension ViewershipLedger {
    /// Enables the journal, from which `drainHistory` removes the changes.
    public func enableHistory() {
        roomReports.withLock { $0.journal.isEnabled = true }
    }

    /// Removes and returns the changes since the last call; call it once a second and write them in one transaction.
    public func drainHistory() -> HistoryBatch {
        let now = clock.now
        var generation = 0
        let snapshot = snapshot(at: now, hasLastHits: true) { roomReports in
            generation = roomReports.journal.generation
            roomReports.journal.snapshot()
            return roomReports.rooms
        }
        let figures = snapshot.figures()
        let groups = figures.mapValues(\.groups)
        return roomReports.withLock { roomReports in
            // A room ended meanwhile, and the history is newer than this snapshot; it is retried a second later.
            if roomReports.journal.generation == generation {
                let minute = minute(at: now)
                roomReports.writeTotal(minute: minute)
                let lag = logLag.load(ordering: .relaxed)
                roomReports.journal.add(
                    RunCounters(startups: snapshot.startups, requests: snapshot.requests, logLag: lag > 0 ? lag : nil)
                )
                for (shard, ages) in snapshot.lastHits.enumerated() {
                    let hits = LastHits(asOf: wallClock.date(of: now.milliseconds), ages: ages)
                    roomReports.journal.add(hits, shard: UInt8(shard))
                }
                var all: [ViewerGroup: Int] = [:]
                for (room, entry) in roomReports.rooms where entry.ended == nil {
                    let figures = figures[room] ?? RoomFigures()
                    all.merge(groups[room] ?? [:], uniquingKeysWith: +)
                    roomReports.journal.add(groups[room] ?? [:], epoch: entry.epoch, minute: minute)
                    let air = roomReports.air(of: room, until: now.milliseconds)
                    roomReports.journal.add(figures, room: room, entry: entry, air: air, minute: minute)
                    roomReports.journal.add(row(room, entry, figures, at: now))
                    roomReports.markWritten(room, at: now.milliseconds)
                }
                roomReports.journal.add(all, epoch: 0, minute: minute)
            }
            return roomReports.journal.drain(asOf: wallClock.date(of: now.milliseconds))
        }
    }

    /// Confirms that the last drained batch is on disk, before another one is drained.
    ///
    /// From then on reports include the watch time of HLS viewers up to that batch, so that a kill reverts nothing.
    public func confirmHistoryWritten() {
        let now = clock.now.milliseconds
        roomReports.withLock { $0.journal.confirm(at: now) }
    }

    /// Removes and returns the session steps, and the time until which this process declares to live (ms since 1970).
    ///
    /// Call it about twenty times a second and write the result at once: after a kill, connections count until then.
    /// The time is `livenessLead` ahead of the clock, so that no reported time is reverted.
    public func drainSteps() -> (aliveUntil: Int64, steps: [SessionStep]) {
        let moment = wallClock.date(of: clock.now.milliseconds) + Self.livenessLead
        return (moment, roomReports.withLock { $0.journal.drainSteps() })
    }

    /// Sets the function that drains and writes the steps before a report that depends on them.
    ///
    /// It is called on the thread of the report.
    public func setStepWriter(_ write: @escaping @Sendable () -> Void) {
        stepWriting.withLock { $0 = write }
    }

    /// Confirms that drained steps are written: reports count connections up to that time.
    ///
    /// - Parameter moment: The time that `drainSteps` returned.
    public func confirmStepsWritten(aliveUntil moment: Int64) {
        let (declaredAlive, now) = (wallClock.monotonic(of: moment), clock.now.milliseconds)
        roomReports.withLock { $0.journal.declaredAlive = (declaredAlive, now) }
    }

    /// Twice the interval of `drainSteps`, in milliseconds.
    private static let livenessLead: Int64 = 100

    /// Includes every broadcast in progress in the next batch, for a new database.
    public func rewriteBroadcasts() {
        roomReports.withLock { $0.journal.rewriteBroadcasts() }
    }

    /// Restores the state of an earlier run; call it after `enableHistory` and before any event.
    ///
    /// Restored joins are not counted again, counters continue, and HLS viewers count until their timeout.
    public func restore(_ recovered: RecoveredAudience) {
        guard let lastWritten = recovered.lastSeen else { return }
        hasRestored.store(true, ordering: .relaxed)
        let now = clock.now.milliseconds
        let lastSeen = max(lastWritten, min(recovered.livedUntil ?? lastWritten, wallClock.date(of: now)))
        // Logs are assumed to be as late as before.
        logsLag(milliseconds: recovered.logLag)
        let names = Dictionary(recovered.broadcasts.map { ($0.epoch, $0.room) }) { $1 }
        roomReports.withLock { roomReports in
            roomReports.restore(recovered, at: now)
            for row in recovered.totals {
                guard let dimensions = row.key.dimensions else { continue }
                roomReports.journal.restore(Cell.Counts(row), room: row.key.room, dimensions: dimensions)
            }
        }
        let sessions = recovered.sessions.filter { names[$0.epoch] != nil && $0.shard < SessionID.shardCount }
        let steps = Dictionary(grouping: recovered.steps, by: \.code)
        let connections = sessions.filter(\.dimensions.playback.isContinuous).map { row in
            UnwrittenConnection(
                row,
                (steps[row.code] ?? []).filter { $0.epoch == row.epoch },
                from: lastWritten,
                to: lastSeen
            )
        }
        withShard(0) { shard in
            for row in recovered.totals {
                guard let dimensions = row.key.dimensions, names[row.key.epoch] != nil else { continue }
                shard.restore(Cell.Counts(row), room: row.key.room, dimensions: dimensions)
            }
            for row in recovered.broadcasts { shard.restore(RoomCounters.Counts(row), room: row.room) }
            for connection in connections {
                for span in connection.spans {
                    let (from, to) = (
                        wallClock.monotonic(of: span.lowerBound), wallClock.monotonic(of: span.upperBound)
                    )
                    let row = connection.row
                    shard.restoreWatch(from: from, to: to, room: row.room, dimensions: row.dimensions)
                }
            }
        }
        roomReports.withLock { roomReports in
            for gap in connections.flatMap(\.gaps) { roomReports.journal.pending.add(gap) }
        }
        for row in connections.map(\.row) + sessions.filter({ !$0.dimensions.playback.isContinuous }) {
            let lastHit = recovered.lastHits[row.shard]?.moment(of: row.index)
            withShard(Int(row.shard)) { shard in
                shard.restore(
                    ShardOutput.Session(row, lastHit: lastHit, wallClock: wallClock),
                    lastSeen: wallClock.monotonic(of: lastSeen),
                    now: now
                )
            }
        }
        let known = Set(recovered.viewers.map(\.session))
        restore(recovered.steps.filter { !known.contains($0.code) }, names: names, lastSeen: lastSeen)
    }

    /// Restores sessions that began shortly before the kill, from their steps.
    private func restore(_ steps: [SessionStep], names: [Int64: String], lastSeen: Int64) {
        let now = clock.now.milliseconds
        let end = wallClock.monotonic(of: lastSeen)
        for (code, steps) in Dictionary(grouping: steps.filter { $0.at <= lastSeen }, by: \.code) {
            let proof = steps.last { $0.kind == .proven }
            guard let step = proof ?? steps.last, let room = names[step.epoch], Int(step.shard) < SessionID.shardCount
            else { continue }
            switch step.kind {
            case .closed, .reopened: continue
            case .requested:
                withShard(Int(step.shard)) { shard in
                    shard.restoreNew(step, room: room, since: wallClock.monotonic(of: step.start), now: now)
                }
                continue
            case .opened, .proven: break
            }
            // The qualification itself may have been too late to be written.
            let isProven = proof != nil || (5000..<5000 + 2 * Self.livenessLead).contains(lastSeen - step.start)
            let isGone = steps.last?.kind == .closed
            withShard(Int(step.shard)) { shard in
                guard isProven else {
                    let start = wallClock.monotonic(of: step.start)
                    shard.interrupted[code] = (start, min(end, start + 5000))
                    return
                }
                shard.restore(
                    step,
                    room: room,
                    start: wallClock.monotonic(of: step.start),
                    lastHit: wallClock.monotonic(of: step.at),
                    end: isGone ? steps.last.map { wallClock.monotonic(of: $0.at) } ?? end : end,
                    lastSeen: end,
                    now: now
                )
            }
            if isProven { roomReports.withLock { $0.arrived(in: room, step) } }
        }
    }

    func row(_ room: String, _ entry: RoomReports.Entry, _ figures: RoomFigures, at now: MonotonicTime) -> BroadcastRow
    {
        let counters = figures.counters.counts - figures.counters.baseline
        return BroadcastRow(
            epoch: entry.epoch,
            room: room,
            roomSID: entry.roomSID,
            began: wallClock.date(of: entry.began),
            ended: entry.ended.map { wallClock.date(of: $0.at) },
            onAir: entry.onAir(at: now.milliseconds),
            peak: entry.peak,
            peakAt: entry.peakAt.map { wallClock.date(of: $0) },
            uniques: entry.uniques.figures,
            reportingSessions: counters.reportingSessions,
            unusedIDs: counters.unusedIDs,
            excluded: ExclusionReason.allCases.map { counters.excluded[$0] }
        )
    }
}

/// The watch time of a connection between the last history batch and the kill.
private struct UnwrittenConnection {
    /// The row of the session at the kill.
    private(set) var row: SessionRow
    /// Watched spans, in milliseconds since 1970.
    private(set) var spans: [Range<Int64>] = []
    /// Interruptions.
    private(set) var gaps: [GapRow] = []

    /// - Parameters:
    ///   - steps: The steps of the session, in order.
    ///   - from: The time of the row.
    ///   - to: When the run was last known to live.
    init(_ row: SessionRow, _ steps: [SessionStep], from: Int64, to: Int64) {
        self.row = row
        var since = row.end == nil ? from : nil
        for step in steps where step.at > from && step.at <= to {
            switch step.kind {
            case .closed:
                guard let began = since, began <= step.at else { continue }
                watch(from: began, to: step.at)
                since = nil
                (self.row.end, self.row.reason) = (step.at, .left)
            case .reopened:
                guard since == nil, let end = self.row.end, end <= step.at else { continue }
                if end < step.at { gaps.append(GapRow(code: row.code, epoch: row.epoch, from: end, to: step.at)) }
                since = step.at
                (self.row.end, self.row.reason) = (nil, nil)
                self.row.watchedUntil = step.at
            case .opened, .proven, .requested: break
            }
        }
        // `AudienceShard.restore` adds this span to the row.
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
        for (reason, count) in zip(CloseReasonCounters.allReasons, row.leaves) { leaves[reason] = count }
    }
}

extension RoomCounters.Counts {
    fileprivate init(_ row: BroadcastRow) {
        self.init()
        reportingSessions = row.reportingSessions
        unusedIDs = row.unusedIDs
        for (reason, count) in zip(ExclusionReason.allCases, row.excluded) { excluded[reason] = count }
    }
}

extension ShardOutput.Session {
    fileprivate init(_ row: SessionRow, lastHit: Int64?, wallClock: RoomReports.WallClock) {
        self.init(
            code: row.code,
            shard: row.shard,
            room: row.room,
            start: wallClock.monotonic(of: row.start),
            end: row.end.map { wallClock.monotonic(of: $0) },
            watched: UInt32(clamping: row.watched),
            watchedUntil: row.watchedUntil.map { wallClock.monotonic(of: $0) },
            lastHit: lastHit.map { wallClock.monotonic(of: $0) },
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
            hasReported: row.hasReported,
            isLogged: row.isLogged,
            reason: row.reason,
            isClosed: row.isClosed
        )
    }
}
