import Stage

/// What all shards together counted of one room.
struct RoomFigures: Sendable {
    struct Place: Sendable {
        var live = 0
        var counts = Cell.Counts.zero
        var baseline = Cell.Counts.zero

        static func += (left: inout Place, right: Place) {
            left.live += right.live
            left.counts += right.counts
            left.baseline += right.baseline
        }
    }

    var places: [Dimensions: Place] = [:]
    var tally = RoomTally()

    /// Viewers that count now, by group.
    var groups: [ViewerGroup: Int] {
        var groups: [ViewerGroup: Int] = [:]
        for (dimensions, place) in places where place.live > 0 {
            for group in dimensions.groups { groups[group, default: 0] += place.live }
        }
        return groups
    }

    var live: Int { places.values.reduce(0) { $0 + $1.live } }

    /// The counts of the present broadcast.
    var broadcast: Cell.Counts {
        places.values.reduce(.zero) { $0 + $1.counts - $1.baseline }
    }

    /// Since the counters began.
    var counts: Cell.Counts {
        places.values.reduce(.zero) { $0 + $1.counts }
    }
}

/// All shards, at one moment.
struct AudienceCut {
    /// What one shard holds; taken in no time, as the lists are shared until the shard changes them.
    struct Part {
        let rooms: [String?]
        let tallies: [RoomTally]
        let cells: [Cell]
        let names: Names
        let adopted: Int
        let beats: Int
        let rejected: [AudienceShard.Rejection: Int]

        init(_ shard: borrowing AudienceShard) {
            rooms = shard.rooms
            tallies = shard.tallies
            cells = shard.cells
            names = shard.names
            adopted = shard.adopted
            beats = shard.beats
            rejected = shard.rejected
        }
    }

    let at: Int64
    var parts: [Part] = []
    var book: [String: RoomBook.Entry] = [:]
    var totalPeak = 0
    var totalPeakAt: Int64?
    var startups = StartupHistogram()
    var earlierBeats = 0
    /// The watch time that is on disk, by room and place; nil where nobody says it.
    var confirmed: [String: [Dimensions: Int64]]?
    /// Steps of sessions are in it that nobody has written.
    var hasSteps = false
    /// Milliseconds that have passed since the process is known to have lived.
    var overrun: Int64 = 0
    /// By shard, where the history wants them: how long ago viewers by requests were last heard of, by their place.
    var lastHits: [[UInt16]] = []

    init(at: Int64) {
        self.at = at
        parts.reserveCapacity(SessionID.shardCount)
    }

    var adopted: Int { parts.reduce(0) { $0 + $1.adopted } }
    var beats: Int { parts.reduce(earlierBeats) { $0 + $1.beats } }
    var rejected: [AudienceShard.Rejection: Int] {
        parts.reduce(into: [:]) { $0.merge($1.rejected, uniquingKeysWith: +) }
    }

    /// The figures of every room.
    func figures() -> [String: RoomFigures] {
        var figures: [String: RoomFigures] = [:]
        add(to: &figures) { _ in true }
        return figures
    }

    /// The figures as they are told: what was watched as far as a later run would know of it, if this one were killed now.
    ///
    /// Of viewers by requests that is what is on disk: the rest is known again when they ask again, and would be missing
    /// until then. Of connections it is what passed until the process is known to have lived.
    func told(_ figures: RoomFigures, of room: String) -> RoomFigures {
        guard book[room]?.ended == nil else { return figures }
        var figures = figures
        for (dimensions, place) in figures.places {
            var told = place.counts.watch
            if dimensions.playback.isContinuous {
                told -= Int64(place.live) * overrun
            } else if let confirmed {
                told = min(told, confirmed[room]?[dimensions] ?? 0)
            }
            figures.places[dimensions]?.counts.watch = max(place.baseline.watch, told)
        }
        return figures
    }

    /// The figures of one room.
    func figures(of room: String) -> RoomFigures {
        var figures: [String: RoomFigures] = [:]
        add(to: &figures) { $0 == room }
        return figures[room] ?? RoomFigures()
    }

    private func add(to figures: inout [String: RoomFigures], _ isWanted: (String) -> Bool) {
        for part in parts {
            let places = part.rooms.map { $0.map(isWanted) ?? false }
            for (place, room) in part.rooms.enumerated() where places[place] {
                if let room { figures[room, default: RoomFigures()].tally += part.tallies[place] }
            }
            for cell in part.cells where cell.key.room >= 0 && places[Int(cell.key.room)] {
                guard let room = part.rooms[Int(cell.key.room)] else { continue }
                let dimensions = Dimensions(
                    playback: cell.key.playback,
                    rendition: part.names[cell.key.rendition],
                    region: part.names[cell.key.region],
                    client: cell.key.client
                )
                let place = RoomFigures.Place(live: cell.live, counts: cell.counts(at: at), baseline: cell.baseline)
                figures[room]?.places[dimensions, default: .init()] += place
            }
        }
    }
}
