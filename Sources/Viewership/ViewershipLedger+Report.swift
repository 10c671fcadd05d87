import Foundation
import Media
import Stage
import Synchronization

/// Reports.
extension ViewershipLedger {
    /// Returns the report of one room; zeros for a room without viewers.
    ///
    /// For an ended room, these are the final figures of its last broadcast.
    public func report(room: String) -> RoomViewership {
        let now = clock.now
        let snapshot = publishedSnapshot(at: now) { $0.rooms[room].map { [room: $0] } ?? [:] }
        return view(room, snapshot.published(snapshot.figures(of: room), of: room), of: snapshot, at: now)
    }

    /// Returns the reports of all rooms with a broadcast, and their sum, in one snapshot.
    public func totals() -> ViewershipTotals {
        let now = clock.now
        let snapshot = publishedSnapshot(at: now)
        let rooms = snapshot.figures()
            .filter { snapshot.roomReports[$0.key]?.ended == nil }
            .map { view($0.key, snapshot.published($0.value, of: $0.key), of: snapshot, at: now) }
            .sorted { ($1.concurrent, $0.room) < ($0.concurrent, $1.room) }
        var total = RoomViewership(room: "", asOf: date(of: now), staleMs: staleness(at: now))
        total.recovering = isRecovering(snapshot, at: now)
        total.peak = snapshot.totalPeak
        total.peakAt = snapshot.totalPeakAt.map { date(ofMonotonic: $0) }
        for room in rooms { total.add(room) }
        return ViewershipTotals(rooms: rooms, total: total)
    }

    /// Returns a snapshot whose steps are written, so that a kill reverts nothing of it.
    func publishedSnapshot(
        at now: MonotonicTime,
        roomReports read: (inout RoomReports) -> [String: RoomReports.Entry] = { $0.rooms }
    ) -> AudienceSnapshot {
        let snapshot = snapshot(at: now, roomReports: read)
        if snapshot.hasSteps { stepWriting.withLock { $0 }?() }
        return snapshot
    }

    /// Returns a consistent snapshot of all shards and of the room reports.
    ///
    /// - Parameter hasLastHits: Whether to include the last requests of HLS viewers.
    func snapshot(
        at now: MonotonicTime,
        hasLastHits: Bool = false,
        roomReports read: (inout RoomReports) -> [String: RoomReports.Entry] = { $0.rooms }
    ) -> AudienceSnapshot {
        var snapshot = AudienceSnapshot(at: now.milliseconds)
        gather(into: &snapshot) { shard, snapshot in
            snapshot.parts.append(AudienceSnapshot.Part(shard))
            // Taken together with the counters, so that later requests add the time since then.
            if hasLastHits { snapshot.lastHits.append(shard.lastHits(at: now.milliseconds)) }
        } whenAllLocked: { snapshot in
            roomReports.withLock { roomReports in
                snapshot.roomReports = read(&roomReports)
                snapshot.hasSteps = roomReports.journal.hasSteps
                // While the disk fails for some seconds, reports include all known time.
                if let confirmed = roomReports.journal.confirmed,
                    now.milliseconds - confirmed.at < Self.longestUnwritten
                {
                    snapshot.confirmed = confirmed.watch
                }
                if let declaredAlive = roomReports.journal.declaredAlive,
                    now.milliseconds - declaredAlive.at < Self.longestUnwritten
                {
                    snapshot.overrun = max(0, now.milliseconds - declaredAlive.until)
                }
                (snapshot.totalPeak, snapshot.totalPeakAt) = (roomReports.totalPeak, roomReports.totalPeakAt)
                (snapshot.startups, snapshot.earlierRequests) = (roomReports.startups, roomReports.earlierRequests)
            }
        }
        return snapshot
    }

    /// Ends the sessions of a room, records its final figures, and starts a new broadcast in its counters.
    ///
    /// Sessions end a few at a time; then figures and counters change in one step.
    func finish(_ room: String, at now: MonotonicTime) {
        clear(room, at: now)
        var snapshot = AudienceSnapshot(at: now.milliseconds)
        gather(into: &snapshot) { shard, snapshot in
            // A viewer may have joined after its shard was cleared.
            if shard.hasViewers(room) {
                var progress = RoomEndProgress()
                _ = shard.end(room: room, at: now.milliseconds, &progress)
                publishOutput(of: &shard)
            }
            snapshot.parts.append(AudienceSnapshot.Part(shard))
            shard.rebase(room: room, at: now.milliseconds)
        } whenAllLocked: { snapshot in
            roomReports.withLock { roomReports in
                // A second end keeps the first figures.
                guard roomReports.rooms[room]?.ended == nil else { return }
                let figures = snapshot.figures(of: room)
                roomReports.journal.snapshot()
                snapshot.roomReports[room] = roomReports.rooms[room]
                roomReports.end(room, final: view(room, figures, of: snapshot, at: now), at: now.milliseconds)
                guard let entry = roomReports.rooms[room] else { return }
                let air = roomReports.air(of: room, until: now.milliseconds)
                roomReports.journal.add(figures, room: room, entry: entry, air: air, minute: minute(at: now))
                roomReports.journal.add(row(room, entry, figures, at: now))
                roomReports.journal.ended()
            }
        }
    }

    /// How long reports exclude time that is not on disk, in milliseconds.
    private static let longestUnwritten: Int64 = 5000

    private func view(
        _ room: String,
        _ figures: RoomFigures,
        of snapshot: AudienceSnapshot,
        at now: MonotonicTime
    ) -> RoomViewership {
        let entry = snapshot.roomReports[room]
        if let final = entry?.ended?.final { return final }
        var view = RoomViewership(room: room, figures: figures, asOf: date(of: now))
        view.peak = entry?.peak ?? 0
        view.peakAt = entry?.peakAt.map { date(ofMonotonic: $0) }
        view.uniques = entry?.uniques.figures ?? .init()
        view.beganAt = entry.map { date(ofMonotonic: $0.began) }
        view.onAirSeconds = Double(entry?.onAir(at: now.milliseconds) ?? 0) / 1000
        view.staleMs = staleness(at: now)
        view.recovering = isRecovering(snapshot, at: now)
        return view
    }

    /// An adopted id is evidence of a restart; more may follow until the longest timeout has passed.
    private func isRecovering(_ snapshot: AudienceSnapshot, at now: MonotonicTime) -> Bool {
        guard now.seconds(since: startTime) < longestAbsence else { return false }
        return hasRestored.load(ordering: .relaxed) || snapshot.adopted > 0
    }

    /// Returns minutes since 1970.
    func minute(at now: MonotonicTime) -> Int64 {
        wallClock.date(of: now.milliseconds) / 60_000
    }

    /// Reads all shards in order, each locked until the last one was read.
    ///
    /// So all figures are of the time at which `whenAllLocked` runs.
    func gather<Result>(
        from index: Int = 0,
        into result: inout Result,
        _ read: (inout AudienceShard, inout Result) -> Void,
        whenAllLocked: (inout Result) -> Void
    ) {
        guard index < shards.count else { return whenAllLocked(&result) }
        shards[index].shard.withLock { shard in
            read(&shard, &result)
            gather(from: index + 1, into: &result, read, whenAllLocked: whenAllLocked)
        }
    }
}
