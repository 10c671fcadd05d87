/// The answer of `GET /v1/viewership/summary`: all rooms together over a time of whole minutes.
public struct ViewershipPeriod: Codable, Sendable, Hashable {
    /// Where it begins.
    public var from: Timestamp
    /// Where it ends.
    public var to: Timestamp
    /// Broadcasts of which anything was counted in it.
    public var broadcasts: Int
    /// For how long any program was on the air; the averages are over this time.
    public var onAirSeconds: Double
    /// The most viewers at once over all rooms: settled once every broadcast of the time is over, and live before.
    public var peakViewers: Int
    /// How that was found: `live`, as it was counted at the time, from the proof that somebody watches until the time-out; or
    /// `settled`, from the beginnings and ends of all playbacks.
    public var peakKind: String
    /// Why the settled peak is above the live one; null where it is not.
    @ExplicitNull public var peakNote: String?
    /// The most viewers at once over all rooms as they were counted live.
    public var livePeakViewers: Int
    /// When the peak was, of a live one the minute; null without viewers.
    @ExplicitNull public var peakAt: Timestamp?
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
    /// Distinct viewers, one of two rooms twice; null where the single playbacks are kept no longer.
    @ExplicitNull public var uniques: UniquesResource?
    /// Time watched by all together, in hours.
    public var watchHours: Double
    /// Time watched on average by one playback that began.
    public var averageWatchSeconds: Double
    /// Time from a request to its first media on average; null where it is not known of anybody.
    @ExplicitNull public var averageStartupSeconds: Double?
    /// Time that players waited for media in the midst of it.
    public var stalledSeconds: Double
    /// Part of the time watched in which players waited for media: stalled / (playing + stalled).
    public var rebufferRatio: Double
    /// By how they watched.
    public var byProtocol: [String: ViewershipSliceResource]
    /// By rendition; the empty one is the program as it is.
    public var byRendition: [String: ViewershipSliceResource]
    /// By country or region; empty where nobody knows.
    public var byRegion: [String: ViewershipSliceResource]
    /// By kind of player.
    public var byClient: [String: ViewershipSliceResource]

    /// Makes a summary of a time in which nobody watched.
    public init(from: Timestamp, to: Timestamp) {
        self.from = from
        self.to = to
        broadcasts = 0
        onAirSeconds = 0
        peakViewers = 0
        peakKind = "live"
        peakNote = nil
        livePeakViewers = 0
        peakAt = nil
        averageViewers = 0
        averageMinuteAudience = 0
        averageMinuteAudienceMinutes = 0
        joins = 0
        leaves = 0
        switches = 0
        uniques = nil
        watchHours = 0
        averageWatchSeconds = 0
        averageStartupSeconds = nil
        stalledSeconds = 0
        rebufferRatio = 0
        byProtocol = [:]
        byRendition = [:]
        byRegion = [:]
        byClient = [:]
    }

    private enum CodingKeys: String, CodingKey {
        case from
        case to
        case broadcasts
        case onAirSeconds = "on_air_seconds"
        case peakViewers = "peak_viewers"
        case peakKind = "peak_kind"
        case peakNote = "peak_note"
        case livePeakViewers = "live_peak_viewers"
        case peakAt = "peak_at"
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
        case byProtocol = "by_protocol"
        case byRendition = "by_rendition"
        case byRegion = "by_region"
        case byClient = "by_client"
    }
}
