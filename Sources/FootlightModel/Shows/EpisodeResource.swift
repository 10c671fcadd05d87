public import Shows

/// One broadcast of a show.
public struct EpisodeResource: Codable, Sendable, Hashable {
    /// `EP…`.
    public var id: String
    /// 1 for the first of the show.
    public var number: Int
    /// The title; empty if it has none.
    public var title: String
    /// `planned`, `backstage`, `live` or `ended`.
    public var state: WireEnum<Episode.State>
    /// The planned start; null for an episode that an operator opens.
    @ExplicitNull public var plannedAt: Timestamp?
    /// The time when it opened for its hosts; null before.
    @ExplicitNull public var openedAt: Timestamp?
    /// The time when it went live first; null before.
    @ExplicitNull public var wentLiveAt: Timestamp?
    /// The time of its end; null before.
    @ExplicitNull public var endedAt: Timestamp?
    /// Why it ended: `ended`, `idle`, `missed` or `lost`; null before.
    @ExplicitNull public var endReason: WireEnum<Episode.EndReason>?
    /// The sid of its room; null before it opens.
    @ExplicitNull public var roomSID: String?
    /// URLs of its room, its viewership and its recordings, by name; empty before it opens.
    public var links: [String: String]

    /// Creates a description.
    public init(
        id: String,
        number: Int,
        title: String,
        state: WireEnum<Episode.State>,
        plannedAt: Timestamp?,
        openedAt: Timestamp?,
        wentLiveAt: Timestamp?,
        endedAt: Timestamp?,
        endReason: WireEnum<Episode.EndReason>?,
        roomSID: String?,
        links: [String: String]
    ) {
        self.id = id
        self.number = number
        self.title = title
        self.state = state
        self.plannedAt = plannedAt
        self.openedAt = openedAt
        self.wentLiveAt = wentLiveAt
        self.endedAt = endedAt
        self.endReason = endReason
        self.roomSID = roomSID
        self.links = links
    }

    private enum CodingKeys: String, CodingKey {
        case id
        case number
        case title
        case state
        case plannedAt = "planned_at"
        case openedAt = "opened_at"
        case wentLiveAt = "went_live_at"
        case endedAt = "ended_at"
        case endReason = "end_reason"
        case roomSID = "room_sid"
        case links
    }
}

/// The response of `GET /v1/shows/{show}/episodes`.
public struct EpisodeList: Codable, Sendable, Hashable {
    /// By number.
    public var episodes: [EpisodeResource]

    /// Creates a list.
    public init(episodes: [EpisodeResource]) {
        self.episodes = episodes
    }
}

/// Something that happened in an episode, which may explain what its audience did.
public struct EpisodeMomentResource: Codable, Sendable, Hashable {
    /// When it happened.
    public var at: Timestamp
    /// `went_live`, `went_backstage`, `host_joined`, `host_left`, `layout_changed` or `scene_taken`.
    public var kind: WireEnum<Episode.Moment.Kind>
    /// The name of the host or scene, or the type of the layout; empty for the rest.
    public var name: String

    /// Creates a moment.
    public init(at: Timestamp, kind: WireEnum<Episode.Moment.Kind>, name: String) {
        self.at = at
        self.kind = kind
        self.name = name
    }
}

/// The response of `GET /v1/shows/{show}/episodes/{episode}/moments`.
public struct EpisodeMomentList: Codable, Sendable, Hashable {
    /// In order, the first 500.
    public var moments: [EpisodeMomentResource]

    /// Creates a list.
    public init(moments: [EpisodeMomentResource]) {
        self.moments = moments
    }
}

/// The body of `POST /v1/shows/{show}/episodes`, and of `PATCH` of one; omitted fields stay unchanged.
public struct EpisodeBody: Codable, Sendable, Hashable {
    /// The title, at most 200 bytes.
    public var title: String?
    /// The planned start, within two years; null or omitted for an episode that an operator opens.
    public var plannedAt: ExplicitNull<Timestamp>?

    /// Creates a body; omitted fields are nil.
    public init(title: String? = nil, plannedAt: ExplicitNull<Timestamp>? = nil) {
        self.title = title
        self.plannedAt = plannedAt
    }

    private enum CodingKeys: String, CodingKey {
        case title
        case plannedAt = "planned_at"
    }
}
