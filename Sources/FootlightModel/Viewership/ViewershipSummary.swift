public import Stage

/// The response of `GET /v1/rooms/{room}/viewership/summary`: one broadcast.
public struct ViewershipSummary: Codable, Sendable, Hashable {
    /// The room's unique name.
    public var room: String
    /// The sid of the room of the broadcast, which its other reports are asked for by; absent where unknown.
    public var roomSID: String?
    /// The start of the broadcast.
    public var beganAt: Timestamp
    /// The end of the broadcast; null while it lasts.
    @ExplicitNull public var endedAt: Timestamp?
    /// The time on air; the averages are over this time.
    public var onAirSeconds: Double
    /// The peak of concurrent viewers: live while the broadcast lasts; settled when it is over, without viewers that
    /// had left and were not yet timed out.
    public var peakViewers: Int
    /// The method of the peak: `live`, as counted at the time, from verification to the timeout; or `settled`, from the
    /// starts and ends of all playbacks.
    public var peakKind: WireEnum<PeakKind>
    /// The reason why the settled peak exceeds the live one; null if it does not.
    @ExplicitNull public var peakNote: String?
    /// The time of the peak; null before the first viewer.
    @ExplicitNull public var peakAt: Timestamp?
    /// The peak of concurrent viewers as counted live.
    public var livePeakViewers: Int
    /// The average of concurrent viewers over the time on air (ACV).
    public var averageViewers: Double
    /// The average minute audience (AMA), with minutes weighted by their part on air.
    public var averageMinuteAudience: Double
    /// The number of minutes of that average; a partial minute counts as its part.
    public var averageMinuteAudienceMinutes: Double
    /// Joins.
    public var joins: Int
    /// Leaves.
    public var leaves: Int
    /// Changes of rendition or protocol.
    public var switches: Int
    /// Distinct viewers.
    public var uniques: UniquesResource
    /// The total watch time in hours.
    public var watchHours: Double
    /// The average watch time of a playback.
    public var averageWatchSeconds: Double
    /// The average startup time; null if unknown.
    @ExplicitNull public var averageStartupSeconds: Double?
    /// The rebuffering time.
    public var stalledSeconds: Double
    /// The rebuffering ratio: stalled / (playing + stalled).
    public var rebufferRatio: Double
    /// The part of the HLS viewers whose players report (CMCD), 0 to 1; sessions that were never seen again count as
    /// not reporting; null without HLS viewers.
    @ExplicitNull public var coverage: Double?
    /// Sessions and requests that never counted, by reason.
    public var excluded: [WireEnum<ExclusionReason>: Int]
    /// Whether the broadcast is over and the numbers are final.
    public var settled: Bool
    /// By playback protocol.
    public var byProtocol: [WireEnum<PlaybackProtocol>: ViewershipSliceResource]
    /// By rendition; the empty name is the program itself.
    public var byRendition: [String: ViewershipSliceResource]
    /// By country or region; empty if unknown.
    public var byRegion: [String: ViewershipSliceResource]
    /// By kind of player.
    public var byClient: [WireEnum<ClientClass>: ViewershipSliceResource]

    /// Creates a summary of a broadcast without viewers.
    public init(room: String, beganAt: Timestamp, endedAt: Timestamp?) {
        self.room = room
        self.beganAt = beganAt
        self.endedAt = endedAt
        onAirSeconds = 0
        peakViewers = 0
        peakKind = .known(.live)
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
        case roomSID = "room_sid"
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

/// The response of `GET /v1/viewership/summary`: all rooms over a period of whole minutes.
public struct ViewershipPeriod: Codable, Sendable, Hashable {
    /// The start of the period.
    public var from: Timestamp
    /// The end of the period.
    public var to: Timestamp
    /// The broadcasts with any counted activity.
    public var broadcasts: Int
    /// The time during which any program was on air; the averages are over this time.
    public var onAirSeconds: Double
    /// The peak of concurrent viewers over all rooms: settled once every broadcast of the period is over, else live.
    public var peakViewers: Int
    /// The method of the peak: `live`, as counted at the time, from verification to the timeout; or `settled`, from the
    /// starts and ends of all playbacks.
    public var peakKind: WireEnum<PeakKind>
    /// The reason why the settled peak exceeds the live one; null if it does not.
    @ExplicitNull public var peakNote: String?
    /// The peak of concurrent viewers over all rooms as counted live.
    public var livePeakViewers: Int
    /// The time of the peak, of a live one the minute; null without viewers.
    @ExplicitNull public var peakAt: Timestamp?
    /// The average of concurrent viewers over the time on air (ACV).
    public var averageViewers: Double
    /// The average minute audience (AMA), with minutes weighted by their part on air.
    public var averageMinuteAudience: Double
    /// The number of minutes of that average; a partial minute counts as its part.
    public var averageMinuteAudienceMinutes: Double
    /// Joins.
    public var joins: Int
    /// Leaves.
    public var leaves: Int
    /// Changes of rendition or protocol.
    public var switches: Int
    /// Distinct viewers, one in two rooms twice; null where the single playbacks are no longer stored.
    @ExplicitNull public var uniques: UniquesResource?
    /// The total watch time in hours.
    public var watchHours: Double
    /// The average watch time of a join.
    public var averageWatchSeconds: Double
    /// The average startup time; null if unknown.
    @ExplicitNull public var averageStartupSeconds: Double?
    /// The rebuffering time.
    public var stalledSeconds: Double
    /// The rebuffering ratio: stalled / (playing + stalled).
    public var rebufferRatio: Double
    /// By playback protocol.
    public var byProtocol: [WireEnum<PlaybackProtocol>: ViewershipSliceResource]
    /// By rendition; the empty name is the program itself.
    public var byRendition: [String: ViewershipSliceResource]
    /// By country or region; empty if unknown.
    public var byRegion: [String: ViewershipSliceResource]
    /// By kind of player.
    public var byClient: [WireEnum<ClientClass>: ViewershipSliceResource]

    /// Creates a summary of a period without viewers.
    public init(from: Timestamp, to: Timestamp) {
        self.from = from
        self.to = to
        broadcasts = 0
        onAirSeconds = 0
        peakViewers = 0
        peakKind = .known(.live)
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

/// The viewership of one group of a broadcast's viewers, or of those of all rooms in a period.
public struct ViewershipSliceResource: Codable, Sendable, Hashable {
    /// Joins.
    public var joins: Int
    /// Leaves.
    public var leaves: Int
    /// Changes of rendition or protocol, to this group.
    public var switches: Int
    /// Distinct viewers, by the last state of their playbacks, and by all played renditions; null where the single
    /// playbacks are no longer stored.
    @ExplicitNull public var uniques: UniquesResource?
    /// The peak of concurrent viewers: settled where known, else live; null if unknown.
    @ExplicitNull public var peakViewers: Int?
    /// The method of the peak: `live`, as counted at the time, from verification to the timeout; or `settled`, from the
    /// starts and ends of all playbacks.
    public var peakKind: WireEnum<PeakKind>
    /// The reason why the settled peak exceeds the live one; null if it does not.
    @ExplicitNull public var peakNote: String?
    /// The peak of concurrent viewers as counted live, once a second; null if unknown.
    @ExplicitNull public var livePeakViewers: Int?
    /// The average of concurrent viewers over the time on air (ACV).
    public var averageViewers: Double
    /// The average minute audience (AMA), with minutes weighted by their part on air.
    public var averageMinuteAudience: Double
    /// The total watch time.
    public var watchTimeSeconds: Double
    /// The average startup time; null if unknown.
    @ExplicitNull public var averageStartupSeconds: Double?
    /// The rebuffering time.
    public var stalledSeconds: Double
    /// The rebuffering ratio: stalled / (playing + stalled).
    public var rebufferRatio: Double

    /// Creates an empty slice.
    public init() {
        joins = 0
        leaves = 0
        switches = 0
        uniques = nil
        peakViewers = nil
        peakKind = .known(.live)
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

/// The method by which a peak of concurrent viewers was found.
public enum PeakKind: String, Sendable, Hashable, CaseIterable {
    /// Counted at the time, from verification to the timeout.
    case live
    /// Computed from the starts and ends of all playbacks.
    case settled
}
