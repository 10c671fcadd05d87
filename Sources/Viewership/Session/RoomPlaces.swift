import Stage
import Synchronization

/// The places of rooms whose audience may only have so many, over all shards.
///
/// Whoever counts as a viewer has one, and so has a connection that was let in and is not proven to watch yet. Rooms without
/// a limit are not in here, and cost nothing.
final class RoomPlaces: Sendable {
    private struct Room {
        var limit: Int
        /// Viewers.
        var counted = 0
        /// Connections that are not viewers yet.
        var arriving = 0

        var isFull: Bool { counted + arriving >= limit }
    }

    private let rooms = Mutex<[String: Room]>([:])
    private let limited = Atomic<Int>(0)

    /// Limits a room, of whose viewers none is counted yet; nil lifts the limit.
    func limit(_ room: String, to limit: Int?) {
        rooms.withLock { rooms in
            // Connections that arrive were let in, whatever the limit was.
            let arriving = rooms[room]?.arriving ?? 0
            rooms[room] = limit.map { Room(limit: $0, arriving: arriving) }
            limited.store(rooms.count, ordering: .relaxed)
        }
    }

    /// Whether the room has a limit.
    func isLimited(_ room: String) -> Bool {
        guard limited.load(ordering: .relaxed) > 0 else { return false }
        return rooms.withLock { $0[room] != nil }
    }

    /// Whether every place of the room is taken.
    func isFull(_ room: String) -> Bool {
        guard limited.load(ordering: .relaxed) > 0 else { return false }
        return rooms.withLock { $0[room]?.isFull ?? false }
    }

    /// So many more are viewers, whether there is a place for them or not.
    func count(_ room: String, _ change: Int) {
        rooms.withLock { $0[room]?.counted += change }
    }

    /// One more is a viewer, if there is a place.
    func take(_ room: String) -> Bool {
        rooms.withLock { rooms in
            guard let state = rooms[room] else { return true }
            guard !state.isFull else { return false }
            rooms[room]?.counted += 1
            return true
        }
    }

    /// A place for a connection until it is proven to watch; nil when there is none.
    func reserve(_ room: String) -> AudiencePlace? {
        let isReserved = rooms.withLock { rooms -> Bool? in
            guard let state = rooms[room] else { return nil }
            guard !state.isFull else { return false }
            rooms[room]?.arriving += 1
            return true
        }
        switch isReserved {
        case nil: return .unlimited
        case false?: return nil
        case true?: return AudiencePlace { [self] in rooms.withLock { $0[room]?.arriving -= 1 } }
        }
    }
}
