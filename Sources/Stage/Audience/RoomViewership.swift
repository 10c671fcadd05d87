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
    /// When the peak was first reached, in seconds since 1970; nil before the first viewer.
    public var peakAt: Double?
    /// The counts of this broadcast; watch time of HLS viewers is up to the last request and half a polling interval.
    public var counts: AudienceCounts
    /// Sessions that ended and may still resume; neither live nor left.
    public var resumable: Int
    /// The time of the figures, in seconds since 1970.
    public var asOf: Double
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
    /// Concurrent playbacks, including excluded and unqualified ones.
    public var unfiltered = 0
    /// Excluded sessions and requests by reason; every reason has its entry.
    public var excluded: [ExclusionReason: Int] = [:]
    /// Distinct viewers of this broadcast.
    public var uniques = UniqueViewers()
    /// The start of the broadcast, in seconds since 1970; nil for a room that was never begun or watched.
    public var beganAt: Double?
    /// Time on air, in seconds.
    public var onAirSeconds = 0.0

    /// Creates figures; zeros by default.
    public init(
        room: String,
        concurrent: Int = 0,
        devices: Int = 0,
        anonymous: Int = 0,
        peak: Int = 0,
        peakAt: Double? = nil,
        counts: AudienceCounts = .zero,
        resumable: Int = 0,
        asOf: Double,
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
        self.counts = counts
        self.resumable = resumable
        self.asOf = asOf
        self.staleMs = staleMs
        self.recovering = recovering
        self.byProtocol = byProtocol
        self.joinsByProtocol = joinsByProtocol
    }
}

extension RoomViewership {
    /// Qualified sessions; a return within the grace time is not a second join.
    public var joins: Int { counts.joins }
    /// Sessions that ended for good.
    public var leaves: Int { counts.leaves.sum }
    /// Total watch time, in seconds.
    public var watchTimeSeconds: Double { counts.watchTimeSeconds }
}

/// The class of a player.
public enum ClientClass: String, Sendable, Hashable, CaseIterable, Codable {
    case web
    case ios
    case android
    case tv
    /// A library or command-line tool: Lavf, VLC, curl. It counts.
    case tool
    case unknown
}

/// The reason why a playback request or session does not count.
public enum ExclusionReason: String, Sendable, Hashable, CaseIterable {
    /// A HEAD request.
    case head
    /// The token of a relay, a monitor or a thumbnail generator.
    case role
    /// A prefetch by a browser.
    case prefetch
    /// The user agent of a crawler or link previewer.
    case agent
    /// A session that ended before it qualified.
    case unqualified
    /// A session beyond the limit of a viewer or an address.
    case surplus
    /// A session that requested playlists but no media.
    case noMedia = "no_media"
}
