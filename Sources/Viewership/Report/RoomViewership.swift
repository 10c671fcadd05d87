public import Foundation
public import Stage

/// How many watch a room, and how many did during its present broadcast.
///
/// Live figures are provisional: they hold the viewers by requests (HLS) that are gone but not yet timed out. In every
/// snapshot `concurrent` is the sum of `byProtocol`, and `joins - leaves == concurrent + resumable`.
public struct RoomViewership: Sendable, Equatable {
    /// The room's unique name; empty in the total over all rooms.
    public var room: String
    /// Viewer sessions that count now.
    public var concurrent: Int
    /// Distinct viewers among them: several players of one participant are one.
    public var devices: Int
    /// Those of `concurrent` that belong to no participant that is present.
    public var anonymous: Int
    /// The most that ever counted at once in this broadcast; provisional like `concurrent`.
    public var peak: Int
    /// When the peak was first reached; nil before the first viewer.
    public var peakAt: Date?
    /// Sessions that were proven to watch; a return within the grace time is not a second join.
    public var joins: Int
    /// Sessions that ended for good.
    public var leaves: Int
    /// Sessions that ended and may still come back; neither live nor left.
    public var resumable: Int
    /// Time watched by everybody so far: of those who left to their last sign of life and half a poll.
    public var watchTimeSeconds: Double
    /// The moment the figures are of.
    public var asOf: Date
    /// How long ago the time-outs were last looked at; milliseconds, below about 1000 in a healthy gateway.
    public var staleMs: Int
    /// The gateway was restarted and viewers of before are still being taken over.
    public var recovering: Bool
    /// `concurrent` by the way of watching; every way has its entry.
    public var byProtocol: [PlaybackProtocol: Int]
    /// `joins` by the way of watching at the time; every way has its entry.
    public var joinsByProtocol: [PlaybackProtocol: Int]
    /// `concurrent` by rendition; empty for the program as it is.
    public var byRendition: [String: Int] = [:]
    /// `concurrent` by country or region, ISO codes; empty where nobody knows.
    public var byRegion: [String: Int] = [:]
    /// `concurrent` by kind of player; every kind has its entry.
    public var byClient: [ClientClass: Int] = [:]
    /// How often viewers changed their rendition or their protocol.
    public var switches = 0
    /// Playbacks at this moment, those that do not count or are not proven yet included.
    public var unfiltered = 0
    /// Sessions and requests that never counted, by the reason; every reason has its entry.
    public var excluded: [Exclusion: Int] = [:]
    /// Seconds that players say they waited for media in the midst of it.
    public var stalledSeconds = 0.0
    /// Seconds from the request to the first media of all of whom it is known, and how many they are.
    public var startupSeconds = 0.0
    /// How many `startup` is of.
    public var startups = 0
    /// Distinct viewers of this broadcast.
    public var uniques = UniqueViewers()
    /// When the broadcast began; nil for a room that nobody has begun or watched.
    public var beganAt: Date?
    /// For how long its program has been on the air; seconds.
    public var onAirSeconds = 0.0

    /// Figures as given; zeros where nothing is.
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
    /// The figures that the shards' counters add up to.
    init(room: String, figures: RoomFigures, asOf: Date) {
        let tally = figures.tally
        let live = figures.live
        let counts = figures.broadcast
        self.init(
            room: room,
            concurrent: live,
            devices: live - tally.surplus,
            anonymous: live - tally.attributed,
            joins: counts.joins,
            leaves: counts.leaves.sum,
            resumable: tally.resumable,
            watchTimeSeconds: Double(counts.watch) / 1000,
            asOf: asOf,
            byProtocol: Dictionary(uniqueKeysWithValues: PlaybackProtocol.allCases.map { ($0, 0) }),
            joinsByProtocol: Dictionary(uniqueKeysWithValues: PlaybackProtocol.allCases.map { ($0, 0) })
        )
        byClient = Dictionary(uniqueKeysWithValues: ClientClass.allCases.map { ($0, 0) })
        for (dimensions, place) in figures.places {
            byProtocol[dimensions.playback, default: 0] += place.live
            joinsByProtocol[dimensions.playback, default: 0] += place.counts.joins - place.baseline.joins
            byRendition[dimensions.rendition, default: 0] += place.live
            byRegion[dimensions.region, default: 0] += place.live
            byClient[dimensions.client, default: 0] += place.live
        }
        anonymous -= byProtocol[.sdk] ?? 0
        byRendition = byRendition.filter { $0.value > 0 }
        byRegion = byRegion.filter { $0.value > 0 }
        switches = counts.switches
        unfiltered = live + tally.unproven
        let ended = tally.counts - tally.baseline
        excluded = Dictionary(uniqueKeysWithValues: Exclusion.allCases.map { ($0, ended.excluded[$0]) })
        stalledSeconds = Double(counts.stalled) / 1000
        startupSeconds = Double(counts.startup) / 1000
        startups = counts.startups
    }

    /// Adds another room's figures to a sum.
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
