public import Stage

extension RoomViewership {
    /// Creates the report of a room from the counters of the shards.
    init(room: String, figures: RoomFigures, asOf: Double) {
        let counters = figures.counters
        let live = figures.live
        self.init(
            room: room,
            concurrent: live,
            devices: live - counters.surplus,
            anonymous: live - counters.attributed,
            counts: figures.broadcast,
            resumable: counters.resumable,
            asOf: asOf,
            byProtocol: Dictionary(uniqueKeysWithValues: PlaybackProtocol.allCases.map { ($0, 0) }),
            joinsByProtocol: Dictionary(uniqueKeysWithValues: PlaybackProtocol.allCases.map { ($0, 0) })
        )
        byClient = Dictionary(uniqueKeysWithValues: ClientClass.allCases.map { ($0, 0) })
        for (dimensions, cell) in figures.cells {
            byProtocol[dimensions.playback, default: 0] += cell.live
            joinsByProtocol[dimensions.playback, default: 0] += cell.counts.joins - cell.baseline.joins
            byRendition[dimensions.rendition, default: 0] += cell.live
            byRegion[dimensions.region, default: 0] += cell.live
            byClient[dimensions.client, default: 0] += cell.live
        }
        anonymous -= byProtocol[.sdk] ?? 0
        byRendition = byRendition.filter { $0.value > 0 }
        byRegion = byRegion.filter { $0.value > 0 }
        unfiltered = live + counters.unproven
        let ended = counters.counts - counters.baseline
        excluded = Dictionary(uniqueKeysWithValues: ExclusionReason.allCases.map { ($0, ended.excluded[$0]) })
    }

    /// Adds the figures of another room.
    mutating func add(_ room: RoomViewership) {
        concurrent += room.concurrent
        devices += room.devices
        anonymous += room.anonymous
        counts += room.counts
        resumable += room.resumable
        byProtocol.merge(room.byProtocol, uniquingKeysWith: +)
        joinsByProtocol.merge(room.joinsByProtocol, uniquingKeysWith: +)
        byRendition.merge(room.byRendition, uniquingKeysWith: +)
        byRegion.merge(room.byRegion, uniquingKeysWith: +)
        byClient.merge(room.byClient, uniquingKeysWith: +)
        unfiltered += room.unfiltered
        excluded.merge(room.excluded, uniquingKeysWith: +)
        uniques += room.uniques
    }
}

/// All rooms with a broadcast, and their sum.
public struct ViewershipTotals: Sendable, Equatable {
    /// Rooms that had a viewer and have not ended, the largest audience first.
    public var rooms: [RoomViewership]
    /// The sum over `rooms`; a viewer of two rooms counts twice.
    ///
    /// Its peak is the concurrent peak over all rooms since the start, or since the first recovered broadcast began.
    public var total: RoomViewership

    /// Creates totals.
    public init(rooms: [RoomViewership], total: RoomViewership) {
        self.rooms = rooms
        self.total = total
    }
}
