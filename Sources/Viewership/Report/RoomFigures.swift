import Stage

/// The counts of one room over all shards.
struct RoomFigures: Sendable {
    struct CellFigures: Sendable {
        var live = 0
        var counts = AudienceCounts.zero
        var baseline = AudienceCounts.zero

        static func += (left: inout CellFigures, right: CellFigures) {
            left.live += right.live
            left.counts += right.counts
            left.baseline += right.baseline
        }
    }

    var cells: [Dimensions: CellFigures] = [:]
    var counters = RoomCounters()

    /// Concurrent viewers, by group.
    var groups: [ViewerGroup: Int] {
        var groups: [ViewerGroup: Int] = [:]
        for (dimensions, cell) in cells where cell.live > 0 {
            for group in dimensions.groups { groups[group, default: 0] += cell.live }
        }
        return groups
    }

    var live: Int { cells.values.reduce(0) { $0 + $1.live } }

    /// The counts of the current broadcast.
    var broadcast: AudienceCounts {
        cells.values.reduce(.zero) { $0 + $1.counts - $1.baseline }
    }

    /// The counts since the counters began.
    var counts: AudienceCounts {
        cells.values.reduce(.zero) { $0 + $1.counts }
    }
}

/// A consistent snapshot of all shards.
struct AudienceSnapshot {
    /// The contents of one shard; cheap, because the arrays are copied on write.
    struct Part {
        let rooms: [String?]
        let roomCounters: [RoomCounters]
        let cells: [Cell]
        let names: StringInterner
        let adopted: Int
        let requests: Int
        let rejected: [AudienceShard.Rejection: Int]

        init(_ shard: borrowing AudienceShard) {
            rooms = shard.rooms
            roomCounters = shard.roomCounters
            cells = shard.cells
            names = shard.names
            adopted = shard.adopted
            requests = shard.requests
            rejected = shard.rejected
        }
    }

    let at: Int64
    var parts: [Part] = []
    var roomReports: [String: RoomReports.Entry] = [:]
    var totalPeak = 0
    var totalPeakAt: Int64?
    var startups = StartupHistogram()
    var earlierRequests = 0
    /// The watch time that is on disk, by room and cell; nil when nothing is confirmed.
    var confirmed: [String: [Dimensions: Int64]]?
    /// Whether session steps are not written yet.
    var hasSteps = false
    /// Milliseconds since the time until which the process is known to have lived.
    var overrun: Int64 = 0
    /// The ages of the last requests by shard and table index; empty unless the history needs them.
    var lastHits: [[UInt16]] = []

    init(at: Int64) {
        self.at = at
        parts.reserveCapacity(SessionID.shardCount)
    }

    var adopted: Int { parts.reduce(0) { $0 + $1.adopted } }
    var requests: Int { parts.reduce(earlierRequests) { $0 + $1.requests } }
    var rejected: [AudienceShard.Rejection: Int] {
        parts.reduce(into: [:]) { $0.merge($1.rejected, uniquingKeysWith: +) }
    }

    /// Returns the figures of every room.
    func figures() -> [String: RoomFigures] {
        var figures: [String: RoomFigures] = [:]
        add(to: &figures) { _ in true }
        return figures
    }

    /// Limits figures to what the next run would restore, if this one were killed now.
    ///
    /// For HLS viewers that is the watch time on disk, since later time is counted again only with their next requests.
    /// For connections it is the time until which the process is known to have lived.
    func published(_ figures: RoomFigures, of room: String) -> RoomFigures {
        guard roomReports[room]?.ended == nil else { return figures }
        var figures = figures
        for (dimensions, cell) in figures.cells {
            var published = cell.counts.watched
            if dimensions.playback.isContinuous {
                published -= Int64(cell.live) * overrun
            } else if let confirmed {
                published = min(published, confirmed[room]?[dimensions] ?? 0)
            }
            figures.cells[dimensions]?.counts.watched = max(cell.baseline.watched, published)
        }
        return figures
    }

    /// Returns the figures of one room.
    func figures(of room: String) -> RoomFigures {
        var figures: [String: RoomFigures] = [:]
        add(to: &figures) { $0 == room }
        return figures[room] ?? RoomFigures()
    }

    private func add(to figures: inout [String: RoomFigures], _ isWanted: (String) -> Bool) {
        for part in parts {
            let isSelected = part.rooms.map { $0.map(isWanted) ?? false }
            for (index, room) in part.rooms.enumerated() where isSelected[index] {
                if let room { figures[room, default: RoomFigures()].counters += part.roomCounters[index] }
            }
            for cell in part.cells where cell.key.room >= 0 && isSelected[Int(cell.key.room)] {
                guard let room = part.rooms[Int(cell.key.room)] else { continue }
                let dimensions = Dimensions(
                    playback: cell.key.playback,
                    rendition: part.names[cell.key.rendition],
                    region: part.names[cell.key.region],
                    client: cell.key.client
                )
                let cellFigures = RoomFigures.CellFigures(
                    live: cell.live,
                    counts: cell.counts(at: at),
                    baseline: cell.baseline
                )
                figures[room]?.cells[dimensions, default: .init()] += cellFigures
            }
        }
    }
}
