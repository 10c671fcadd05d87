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
        var cut = Cut()
        gather(into: &cut) { shard, cut in
            if let counters = shard.counters(of: room) { cut.rooms[room, default: RoomCounters()] += counters }
            cut.adopted += shard.adopted
        } atTheBottom: { cut in
            cut.book[room] = book.withLock { $0.rooms[room] }
        }
        return view(room, of: cut, at: now)
    }

    /// The figures of all rooms that are on, and their sum, of one moment.
    public func totals() -> ViewershipTotals {
        let now = clock.now
        let cut = cut()
        let rooms = cut.rooms.keys
            .filter { cut.book[$0]?.ended == nil }
            .map { view($0, of: cut, at: now) }
            .sorted { ($1.concurrent, $0.room) < ($0.concurrent, $1.room) }
        var total = RoomViewership(room: "", asOf: date(of: now), staleMs: staleness(at: now))
        total.recovering = isRecovering(cut, at: now)
        total.peak = cut.total.peak
        total.peakAt = cut.total.peakAt.map { date(of: MonotonicTime(nanoseconds: $0 * 1_000_000)) }
        for room in rooms {
            total.concurrent += room.concurrent
            total.devices += room.devices
            total.anonymous += room.anonymous
            total.joins += room.joins
            total.leaves += room.leaves
            total.resumable += room.resumable
            total.watchTimeSeconds += room.watchTimeSeconds
            total.byProtocol.merge(room.byProtocol, uniquingKeysWith: +)
            total.joinsByProtocol.merge(room.joinsByProtocol, uniquingKeysWith: +)
        }
        return ViewershipTotals(rooms: rooms, total: total)
    }

    /// All shards and the book, at one moment.
    struct Cut {
        var rooms: [String: RoomCounters] = [:]
        var book: [String: RoomBook.Entry] = [:]
        var total = RoomBook.Entry()
        /// Sessions of an earlier run that were taken over.
        var adopted = 0
        var beats = 0
        /// Ids that the shards refused.
        var rejected: [AudienceShard.Rejection: Int] = [:]
    }

    func cut() -> Cut {
        var cut = Cut()
        gather(into: &cut) { shard, cut in
            for (name, place) in shard.roomPlaces {
                cut.rooms[name, default: RoomCounters()] += shard.tallies[Int(place)]
            }
            cut.adopted += shard.adopted
            cut.beats += shard.beats
            cut.rejected.merge(shard.rejected, uniquingKeysWith: +)
        } atTheBottom: { cut in
            (cut.book, cut.total) = book.withLock { ($0.rooms, $0.total) }
        }
        return cut
    }

    /// Closes the sessions of a room, takes its final figures, and starts its counters anew, in one step.
    func finish(_ room: String, at now: MonotonicTime) {
        var cut = Cut()
        gather(into: &cut) { shard, cut in
            shard.end(room: room, at: now.milliseconds)
            publishChanges(of: &shard)
            if let counters = shard.counters(of: room) { cut.rooms[room, default: RoomCounters()] += counters }
            shard.rebase(room: room, at: now.milliseconds)
        } atTheBottom: { cut in
            book.withLock { book in
                // Ended twice: the figures of the first time stand.
                guard book.rooms[room]?.ended == nil else { return }
                cut.book[room] = book.rooms[room]
                book.end(room, final: view(room, of: cut, at: now), at: now.milliseconds)
            }
        }
    }

    private func view(_ room: String, of cut: Cut, at now: MonotonicTime) -> RoomViewership {
        let counters = cut.rooms[room] ?? RoomCounters()
        let entry = cut.book[room]
        if let final = entry?.ended?.final { return final }
        var view = RoomViewership(room: room, counters: counters, now: now.milliseconds, asOf: date(of: now))
        view.peak = entry?.peak ?? 0
        view.peakAt = entry?.peakAt.map { date(of: MonotonicTime(nanoseconds: $0 * 1_000_000)) }
        view.staleMs = staleness(at: now)
        view.recovering = isRecovering(cut, at: now)
        return view
    }

    /// An id of an earlier run proves a restart; until the longest time-out has passed others may follow.
    private func isRecovering(_ cut: Cut, at now: MonotonicTime) -> Bool {
        let longest = max(configuration.grace, configuration.timeout(of: .hls), configuration.timeout(of: .llhls))
        return cut.adopted > 0 && now.seconds(since: startTime) < longest
    }

    /// Reads one shard after the other, each locked until the last was read.
    ///
    /// So all figures are of the moment in which `atTheBottom` runs.
    private func gather<Result>(
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
