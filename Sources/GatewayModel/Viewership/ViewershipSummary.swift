/// The answer of `GET /v1/rooms/{room}/viewership/summary`: one broadcast as a whole.
public struct ViewershipSummary: Codable, Sendable, Hashable {
    /// The room's unique name.
    public var room: String
    /// When the broadcast began.
    public var beganAt: Timestamp
    /// Null while it lasts.
    @ExplicitNull public var endedAt: Timestamp?
    /// For how long its program was on the air; the averages are over this time.
    public var onAirSeconds: Double
    /// The most viewers at once: as they were counted live while the broadcast lasts, and settled when it is over, without
    /// those who had left and were not yet timed out.
    public var peakViewers: Int
    /// How that was found: `live`, as it was counted at the time, from the proof that somebody watches until the time-out; or
    /// `settled`, from the beginnings and ends of all playbacks.
    public var peakKind: String
    /// Why the settled peak is above the live one; null where it is not.
    @ExplicitNull public var peakNote: String?
    /// When that was; null before the first viewer.
    @ExplicitNull public var peakAt: Timestamp?
    /// The most viewers at once as it was shown live.
    public var livePeakViewers: Int
    /// Viewers on average over the time on the air (ACV).
    public var averageViewers: Double
    /// The average audience of the minutes on the air, each with the part of it that was for its weight (AMA).
    public var averageMinuteAudience: Double
    /// Of how many minutes that is; a part of a minute counts as that part.
    public var averageMinuteAudienceMinutes: Double
    /// Playbacks that began.
    public var joins: Int
    /// Playbacks that ended for good.
    public var leaves: Int
    /// Changes of rendition or protocol.
    public var switches: Int
    /// Distinct viewers.
    public var uniques: UniquesResource
    /// Time watched by all together, in hours.
    public var watchHours: Double
    /// Time watched on average by one playback.
    public var averageWatchSeconds: Double
    /// Time from a request to its first media on average; null where it is not known of anybody.
    @ExplicitNull public var averageStartupSeconds: Double?
    /// Time that players waited for media in the midst of it.
    public var stalledSeconds: Double
    /// Part of the time watched in which players waited for media: stalled / (playing + stalled).
    public var rebufferRatio: Double
    /// Part of the viewers by HLS whose players report of themselves, 0 to 1, whoever took a session id and was never
    /// seen again among those who do not; null without such viewers.
    @ExplicitNull public var coverage: Double?
    /// Sessions and requests that never counted, by the reason.
    public var excluded: [String: Int]
    /// No more is to come: the broadcast is over.
    public var settled: Bool
    /// By how they watched.
    public var byProtocol: [String: ViewershipSliceResource]
    /// By rendition; the empty one is the program as it is.
    public var byRendition: [String: ViewershipSliceResource]
    /// By country or region; empty where nobody knows.
    public var byRegion: [String: ViewershipSliceResource]
    /// By kind of player.
    public var byClient: [String: ViewershipSliceResource]

    /// Makes a summary of a broadcast that nobody watched.
    public init(room: String, beganAt: Timestamp, endedAt: Timestamp?) {
        self.room = room
        self.beganAt = beganAt
        self.endedAt = endedAt
        onAirSeconds = 0
        peakViewers = 0
        peakKind = "live"
        peakNote = nil
        peakAt = nil
        livePeakViewers = 0
        averageViewers = 0
        averageMinuteAudience = 0
        averageMinuteAudienceMinutes = 0
        joins = 0
        leaves = 0
        switches = 0
        uniques = UniquesResource()
        watchHours = 0
        averageWatchSeconds = 0
        averageStartupSeconds = nil
        stalledSeconds = 0
        rebufferRatio = 0
        coverage = nil
        excluded = [:]
        settled = endedAt != nil
        byProtocol = [:]
        byRendition = [:]
        byRegion = [:]
        byClient = [:]
    }

    private enum CodingKeys: String, CodingKey {
        case room
        case beganAt = "began_at"
        case endedAt = "ended_at"
        case onAirSeconds = "on_air_seconds"
        case peakViewers = "peak_viewers"
        case peakKind = "peak_kind"
        case peakNote = "peak_note"
        case peakAt = "peak_at"
        case livePeakViewers = "live_peak_viewers"
        case averageViewers = "average_viewers"
        case averageMinuteAudience = "average_minute_audience"
        case averageMinuteAudienceMinutes = "average_minute_audience_minutes"
        case joins
        case leaves
        case switches
        case uniques
        case watchHours = "watch_hours"
        case averageWatchSeconds = "average_watch_seconds"
        case averageStartupSeconds = "average_startup_seconds"
        case stalledSeconds = "stalled_seconds"
        case rebufferRatio = "rebuffer_ratio"
        case coverage
        case excluded
        case settled
        case byProtocol = "by_protocol"
        case byRendition = "by_rendition"
        case byRegion = "by_region"
        case byClient = "by_client"
    }
}
