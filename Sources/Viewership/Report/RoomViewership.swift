public import Foundation
public import Stage

/// The audience of a room, now and during its current broadcast.
///
/// Live figures are provisional: they include HLS viewers that have left but not timed out. In every snapshot
/// `concurrent` is the sum of `byProtocol`, and `joins - leaves == concurrent + resumable`.
public struct RoomViewership: Sendable, Equatable {
    /// The room's unique name; empty in the total over all rooms.
    public var room: String
    /// Concurrent viewer sessions.
    public var concurrent: Int
    /// Distinct concurrent viewers: several players of one participant count once.
    public var devices: Int
    /// Concurrent sessions that belong to no present participant.
    public var anonymous: Int
    /// The concurrent peak of this broadcast; provisional like `concurrent`.
    public var peak: Int
    /// When the peak was first reached; nil before the first viewer.
    public var peakAt: Date?
    /// Qualified sessions; a return within the grace time is not a second join.
    public var joins: Int
    /// Sessions that ended for good.
    public var leaves: Int
    /// Sessions that ended and may still resume; neither live nor left.
    public var resumable: Int
    /// Total watch time; of HLS viewers up to the last request and half a polling interval.
    public var watchTimeSeconds: Double
    /// The time of the figures.
    public var asOf: Date
    /// The age of the last timeout check in milliseconds, below about 1000 in a healthy gateway.
    public var staleMs: Int
    /// Whether viewers of an earlier run are still being restored.
    public var recovering: Bool
    /// `concurrent` by protocol; every protocol has its entry.
    public var byProtocol: [PlaybackProtocol: Int]
    /// `joins` by the protocol at that time; every protocol has its entry.
    public var joinsByProtocol: [PlaybackProtocol: Int]
    /// `concurrent` by rendition; the source has the empty name.
    public var byRendition: [String: Int] = [:]
    /// `concurrent` by country or region, as ISO codes; empty when unknown.
    public var byRegion: [String: Int] = [:]
    /// `concurrent` by class of player; every class has its entry.
    public var byClient: [ClientClass: Int] = [:]
    /// The number of rendition and protocol switches.
    public var switches = 0
    /// Concurrent playbacks, including excluded and unqualified ones.
    public var unfiltered = 0
    /// Excluded sessions and requests by reason; every reason has its entry.
    public var excluded: [ExclusionReason: Int] = [:]
    /// Rebuffering time that players reported, in seconds.
    public var stalledSeconds = 0.0
    /// The sum of known startup times, in seconds.
    public var startupSeconds = 0.0
    /// The number of startup times in `startupSeconds`.
    public var startups = 0
    /// Distinct viewers of this broadcast.
    public var uniques = UniqueViewers()
    /// The start of the broadcast; nil for a room that was never begun or watched.
    public var beganAt: Date?
    /// Time on air, in seconds.
    public var onAirSeconds = 0.0

    /// Creates figures; zeros by default.
    public init(
        room: String,
        concurrent: Int = 0,
        devices: Int = 0,
        anonymous: Int = 0,
        peak: Int = 0,
        peakAt: Date? = nil,
        joins: Int = 0,
        leaves: Int = 0,
        resumable: Int = 0,
        watchTimeSeconds: Double = 0,
        asOf: Date,
        staleMs: Int = 0,
        recovering: Bool = false,
        byProtocol: [PlaybackProtocol: Int] = [:],
        joinsByProtocol: [PlaybackProtocol: Int] = [:]
    ) {
        self.room = room
        self.concurrent = concurrent
        self.devices = devices
        self.anonymous = anonymous
        self.peak = peak
        self.peakAt = peakAt
        self.joins = joins
        self.leaves = leaves
        self.resumable = resumable
        self.watchTimeSeconds = watchTimeSeconds
        self.asOf = asOf
        self.staleMs = staleMs
        self.recovering = recovering
        self.byProtocol = byProtocol
        self.joinsByProtocol = joinsByProtocol
    }
}

extension RoomViewership {
    /// Creates the report of a room from the counters of the shards.
    init(room: String, figures: RoomFigures, asOf: Date) {
        let counters = figures.counters
        let live = figures.live
        let counts = figures.broadcast
        self.init(
            room: room,
            concurrent: live,
            devices: live - counters.surplus,
            anonymous: live - counters.attributed,
            joins: counts.joins,
            leaves: counts.leaves.sum,
            resumable: counters.resumable,
            watchTimeSeconds: Double(counts.watch) / 1000,
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
        switches = counts.switches
        unfiltered = live + counters.unproven
        let ended = counters.counts - counters.baseline
        excluded = Dictionary(uniqueKeysWithValues: ExclusionReason.allCases.map { ($0, ended.excluded[$0]) })
        stalledSeconds = Double(counts.stalled) / 1000
        startupSeconds = Double(counts.startup) / 1000
        startups = counts.startups
    }

    /// Adds the figures of another room.
    mutating func add(_ room: RoomViewership) {
        concurrent += room.concurrent
        devices += room.devices
        anonymous += room.anonymous
        joins += room.joins
        leaves += room.leaves
        resumable += room.resumable
        watchTimeSeconds += room.watchTimeSeconds
        byProtocol.merge(room.byProtocol, uniquingKeysWith: +)
        joinsByProtocol.merge(room.joinsByProtocol, uniquingKeysWith: +)
        byRendition.merge(room.byRendition, uniquingKeysWith: +)
        byRegion.merge(room.byRegion, uniquingKeysWith: +)
        byClient.merge(room.byClient, uniquingKeysWith: +)
        switches += room.switches
        unfiltered += room.unfiltered
        excluded.merge(room.excluded, uniquingKeysWith: +)
        stalledSeconds += room.stalledSeconds
        startupSeconds += room.startupSeconds
        startups += room.startups
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
