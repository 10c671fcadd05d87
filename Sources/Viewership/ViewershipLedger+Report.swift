import Foundation
import Media
import Stage
import Synchronization

/// What the ledger says.
extension ViewershipLedger {
    /// The figures of one room; zeros for a room that nobody has watched.
    ///
    /// Of a room that ended, the final figures of its last broadcast.
    public func report(room: String) -> RoomViewership {
        let now = clock.now
        let cut = toldCut(at: now) { $0.rooms[room].map { [room: $0] } ?? [:] }
        return view(room, cut.told(cut.figures(of: room), of: room), of: cut, at: now)
    }

    /// The figures of all rooms that are on, and their sum, of one moment.
    public func totals() -> ViewershipTotals {
        let now = clock.now
        let cut = toldCut(at: now)
        let rooms = cut.figures()
            .filter { cut.book[$0.key]?.ended == nil }
            .map { view($0.key, cut.told($0.value, of: $0.key), of: cut, at: now) }
            .sorted { ($1.concurrent, $0.room) < ($0.concurrent, $1.room) }
        var total = RoomViewership(room: "", asOf: date(of: now), staleMs: staleness(at: now))
        total.recovering = isRecovering(cut, at: now)
        total.peak = cut.totalPeak
        total.peakAt = cut.totalPeakAt.map { date(ofMonotonic: $0) }
        for room in rooms { total.add(room) }
        return ViewershipTotals(rooms: rooms, total: total)
    }

    /// All shards and the book at one moment, whose steps are written: a kill takes back none of what is told of them.
    func toldCut(
        at now: MonotonicTime,
        book read: (inout RoomBook) -> [String: RoomBook.Entry] = { $0.rooms }
    ) -> AudienceCut {
        let cut = cut(at: now, book: read)
        if cut.hasSteps { stepWriting.withLock { $0 }?() }
        return cut
    }

    /// All shards and the book, at one moment.
    ///
    /// - Parameter hasLastHits: With when each viewer by requests was last heard of.
    func cut(
        at now: MonotonicTime,
        hasLastHits: Bool = false,
        book read: (inout RoomBook) -> [String: RoomBook.Entry] = { $0.rooms }
    ) -> AudienceCut {
        var cut = AudienceCut(at: now.milliseconds)
        gather(into: &cut) { shard, cut in
            cut.parts.append(AudienceCut.Part(shard))
            // Of the same moment as the counters: who is heard of afterwards has watched the time since then.
            if hasLastHits { cut.lastHits.append(shard.lastHits(at: now.milliseconds)) }
        } atTheBottom: { cut in
            book.withLock { book in
                cut.book = read(&book)
                cut.hasSteps = book.journal.hasSteps
                // Where the disk has taken nothing for some seconds, all is told that is known.
                if let confirmed = book.journal.confirmed, now.milliseconds - confirmed.at < Self.longestUnwritten {
                    cut.confirmed = confirmed.watch
                }
                if let promised = book.journal.promised, now.milliseconds - promised.at < Self.longestUnwritten {
                    cut.overrun = max(0, now.milliseconds - promised.until)
                }
                (cut.totalPeak, cut.totalPeakAt) = (book.totalPeak, book.totalPeakAt)
                (cut.startups, cut.earlierBeats) = (book.startups, book.earlierBeats)
            }
        }
        return cut
    }

    /// Closes the sessions of a room, takes its final figures, and starts its counters anew.
    ///
    /// The sessions a few at a time, while everything else goes on; then the figures and the counters in one step.
    func finish(_ room: String, at now: MonotonicTime) {
        clear(room, at: now)
        var cut = AudienceCut(at: now.milliseconds)
        gather(into: &cut) { shard, cut in
            // Who came to watch since its shard was cleared: hardly ever anybody.
            if shard.isPeopled(room) {
                var progress = RoomEnding()
                _ = shard.end(room: room, at: now.milliseconds, &progress)
                publishOutput(of: &shard)
            }
            cut.parts.append(AudienceCut.Part(shard))
            shard.rebase(room: room, at: now.milliseconds)
        } atTheBottom: { cut in
            book.withLock { book in
                // Ended twice: the figures of the first time stand.
                guard book.rooms[room]?.ended == nil else { return }
                let figures = cut.figures(of: room)
                book.journal.cut()
                cut.book[room] = book.rooms[room]
                book.end(room, final: view(room, figures, of: cut, at: now), at: now.milliseconds)
                guard let entry = book.rooms[room] else { return }
                let air = book.air(of: room, until: now.milliseconds)
                book.journal.add(figures, room: room, entry: entry, air: air, minute: minute(at: now))
                book.journal.add(row(room, entry, figures, at: now))
                book.journal.ended()
            }
        }
    }

    /// For how long what is not on disk is not told; milliseconds.
    private static let longestUnwritten: Int64 = 5000

    private func view(
        _ room: String,
        _ figures: RoomFigures,
        of cut: AudienceCut,
        at now: MonotonicTime
    ) -> RoomViewership {
        let entry = cut.book[room]
        if let final = entry?.ended?.final { return final }
        var view = RoomViewership(room: room, figures: figures, asOf: date(of: now))
        view.peak = entry?.peak ?? 0
        view.peakAt = entry?.peakAt.map { date(ofMonotonic: $0) }
        view.uniques = entry?.uniques.figures ?? .init()
        view.beganAt = entry.map { date(ofMonotonic: $0.began) }
        view.onAirSeconds = Double(entry?.onAir(at: now.milliseconds) ?? 0) / 1000
        view.staleMs = staleness(at: now)
        view.recovering = isRecovering(cut, at: now)
        return view
    }

    /// An id of an earlier run proves a restart; until the longest time-out has passed others may follow.
    private func isRecovering(_ cut: AudienceCut, at now: MonotonicTime) -> Bool {
        guard now.seconds(since: startTime) < longestAbsence else { return false }
        return hasRestored.load(ordering: .relaxed) || cut.adopted > 0
    }

    /// Minutes since 1970.
    func minute(at now: MonotonicTime) -> Int64 {
        wall.date(of: now.milliseconds) / 60_000
    }

    /// Reads one shard after the other, each locked until the last was read.
    ///
    /// So all figures are of the moment in which `atTheBottom` runs.
    func gather<Result>(
        from index: Int = 0,
        into result: inout Result,
        _ read: (inout AudienceShard, inout Result) -> Void,
        atTheBottom: (inout Result) -> Void
    ) {
        guard index < owners.count else { return atTheBottom(&result) }
        owners[index].shard.withLock { shard in
            read(&shard, &result)
            gather(from: index + 1, into: &result, read, atTheBottom: atTheBottom)
        }
    }
}
