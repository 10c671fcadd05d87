/// What one group of a broadcast's viewers did, or of those of all rooms in a time.
public struct ViewershipSliceResource: Codable, Sendable, Hashable {
    /// Playbacks that began.
    public var joins: Int
    /// Playbacks that ended for good.
    public var leaves: Int
    /// Changes of rendition or protocol, to the one that is told of.
    public var switches: Int
    /// Distinct viewers, by what their playbacks were last, and by all renditions that they played; null where the single
    /// playbacks are kept no longer.
    @ExplicitNull public var uniques: UniquesResource?
    /// The most viewers at once: settled where it is known, and live before; null where nobody knows.
    @ExplicitNull public var peakViewers: Int?
    /// How that was found: `live`, as it was counted at the time, from the proof that somebody watches until the time-out; or
    /// `settled`, from the beginnings and ends of all playbacks.
    public var peakKind: String
    /// Why the settled peak is above the live one; null where it is not.
    @ExplicitNull public var peakNote: String?
    /// The most viewers at once as they were counted live, once a second; null where nobody knows.
    @ExplicitNull public var livePeakViewers: Int?
    /// Viewers on average over the time on the air (ACV).
    public var averageViewers: Double
    /// The average audience of the minutes on the air, each with the part of it that was for its weight (AMA).
    public var averageMinuteAudience: Double
    /// Time watched by all together.
    public var watchTimeSeconds: Double
    /// Time from a request to its first media on average; null where it is not known of anybody.
    @ExplicitNull public var averageStartupSeconds: Double?
    /// Time that players waited for media in the midst of it.
    public var stalledSeconds: Double
    /// Part of the time watched in which players waited for media: stalled / (playing + stalled).
    public var rebufferRatio: Double

    /// Makes a slice of nobody.
    public init() {
        joins = 0
        leaves = 0
        switches = 0
        uniques = nil
        peakViewers = nil
        peakKind = "live"
        peakNote = nil
        livePeakViewers = nil
        averageViewers = 0
        averageMinuteAudience = 0
        watchTimeSeconds = 0
        averageStartupSeconds = nil
        stalledSeconds = 0
        rebufferRatio = 0
    }

    private enum CodingKeys: String, CodingKey {
        case joins
        case leaves
        case switches
        case uniques
        case peakViewers = "peak_viewers"
        case peakKind = "peak_kind"
        case peakNote = "peak_note"
        case livePeakViewers = "live_peak_viewers"
        case averageViewers = "average_viewers"
        case averageMinuteAudience = "average_minute_audience"
        case watchTimeSeconds = "watch_time_seconds"
        case averageStartupSeconds = "average_startup_seconds"
        case stalledSeconds = "stalled_seconds"
        case rebufferRatio = "rebuffer_ratio"
    }
}
