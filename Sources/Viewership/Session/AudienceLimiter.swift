import Stage
import Synchronization

/// Limits the number of viewers of rooms, over all shards.
///
/// Viewers occupy a slot, and so do admitted connections before they qualify. Rooms without a limit have no entry and
/// cost nothing.
final class AudienceLimiter: Sendable {
    private struct Room {
        var limit: Int
        /// Qualified viewers.
        var counted = 0
        /// Admitted connections that have not qualified.
        var arriving = 0

        var isFull: Bool { counted + arriving >= limit }
    }

    private let rooms = Mutex<[String: Room]>([:])
    private let limited = Atomic<Int>(0)

    /// Sets the limit of a room, before its viewers are counted; nil removes it.
    func limit(_ room: String, to limit: Int?) {
        rooms.withLock { rooms in
            // Admitted connections keep their slots under a new limit.
            let arriving = rooms[room]?.arriving ?? 0
            rooms[room] = limit.map { Room(limit: $0, arriving: arriving) }
            limited.store(rooms.count, ordering: .relaxed)
        }
    }

    /// Whether a room has a limit.
    func isLimited(_ room: String) -> Bool {
        guard limited.load(ordering: .relaxed) > 0 else { return false }
        return rooms.withLock { $0[room] != nil }
    }

    /// Whether all slots of a room are occupied.
    func isFull(_ room: String) -> Bool {
        guard limited.load(ordering: .relaxed) > 0 else { return false }
        return rooms.withLock { $0[room]?.isFull ?? false }
    }

    /// Changes the number of viewers, regardless of the limit.
    func count(_ room: String, _ change: Int) {
        rooms.withLock { $0[room]?.counted += change }
    }

    /// Counts one more viewer if a slot is free.
    func reserveForViewer(_ room: String) -> Bool {
        rooms.withLock { rooms in
            guard let state = rooms[room] else { return true }
            guard !state.isFull else { return false }
            rooms[room]?.counted += 1
            return true
        }
    }

    /// Reserves a slot for a connection until it qualifies; nil when none is free.
    func reserve(_ room: String) -> ViewerSlot? {
        let isReserved = rooms.withLock { rooms -> Bool? in
            guard let state = rooms[room] else { return nil }
            guard !state.isFull else { return false }
            rooms[room]?.arriving += 1
            return true
        }
        switch isReserved {
        case nil: return .unlimited
        case false?: return nil
        case true?: return ViewerSlot { [self] in rooms.withLock { $0[room]?.arriving -= 1 } }
        }
    }
}
