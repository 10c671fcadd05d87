import Stage

/// What is known of a room as a whole: its peak, and how its last broadcast ended.
///
/// Fed with every move of a live count, by the shards in the order in which they happen.
struct RoomBook {
    struct Entry {
        var live = 0
        var peak = 0
        var peakAt: Int64?
        /// When the broadcast ended, and its final figures, until the next one begins.
        var ended: (at: Int64, final: RoomViewership)?
        /// The watch time that `metrics()` last gave out; a counter must not be seen to fall.
        var publishedWatch = PerProtocol<Int64>.zero
    }

    private(set) var rooms: [String: Entry] = [:]
    private(set) var total = Entry()

    mutating func apply(_ changes: [AudienceShard.Change]) {
        for change in changes {
            let hasBegunAgain = change.delta > 0 && rooms[change.room]?.ended != nil
            if hasBegunAgain {
                let published = rooms[change.room]?.publishedWatch ?? .zero
                rooms[change.room] = Entry(publishedWatch: published)
            }
            Self.move(&rooms[change.room, default: Entry()], by: change)
            Self.move(&total, by: change)
        }
    }

    private static func move(_ entry: inout Entry, by change: AudienceShard.Change) {
        entry.live += change.delta
        if entry.live > entry.peak {
            entry.peak = entry.live
            entry.peakAt = change.at
        }
    }

    /// A broadcast begins; the figures of the one before it under the same name are history.
    mutating func begin(_ room: String) {
        rooms[room] = Entry(publishedWatch: rooms[room]?.publishedWatch ?? .zero)
    }

    /// The broadcast is over; `final` stands for it until the next one begins.
    mutating func end(_ room: String, final: RoomViewership, at: Int64) {
        rooms[room, default: Entry()].ended = (at, final)
    }

    /// Forgets the rooms that ended before `moment`, and names them.
    mutating func removeRooms(endedBefore moment: Int64) -> [String] {
        let gone = rooms.filter { _, entry in entry.ended.map { $0.at < moment } ?? false }.map(\.key)
        for room in gone { rooms[room] = nil }
        return gone
    }

    /// The watch time to give out: the measured one, or the one given out before if that was more.
    mutating func publish(watch: PerProtocol<Int64>, of room: String) -> PerProtocol<Int64> {
        guard var published = rooms[room]?.publishedWatch else { return watch }
        for playback in PlaybackProtocol.allCases {
            published[playback] = max(published[playback], watch[playback])
        }
        rooms[room]?.publishedWatch = published
        return published
    }
}
