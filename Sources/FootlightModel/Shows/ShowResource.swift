public import Shows
public import Stage

/// A show: what stays from one episode to the next.
public struct ShowResource: Codable, Sendable, Hashable {
    /// `SH…`.
    public var id: String
    /// The name in addresses, and of each episode's room.
    public var name: String
    /// The title that viewers read.
    public var title: String
    /// The description that viewers read.
    public var description: String
    /// The name of the show's asset that early viewers see; null for none.
    @ExplicitNull public var poster: String?
    /// The time zone of the schedule, such as `Europe/Berlin`.
    public var timeZone: String
    /// When episodes take place; null for those that are planned one by one.
    @ExplicitNull public var schedule: ShowScheduleResource?
    /// Seconds before its planned start at which an episode opens for its hosts.
    public var opensBefore: Int
    /// Whether an episode goes live by itself at its planned start.
    public var startsByItself: Bool
    /// Seconds without a connected host after which an episode ends.
    public var idleTimeout: Int
    /// Whether what is live is recorded.
    public var recording: Bool
    /// Whether everyone may watch the recordings of the last episode.
    public var replay: Bool
    /// The outputs that start when an episode goes live.
    public var outputs: [ShowOutputResource]
    /// The settings of each episode's room.
    public var room: ShowRoomResource
    /// The hosts' seats.
    public var seats: [SeatResource]
    /// The scenes in the order of the show.
    public var scenes: [ShowSceneResource]
    /// What viewers find: `upcoming`, `live` or `ended`.
    public var state: WireEnum<ShowStatus.State>
    /// The episode that is open; null if there is none.
    @ExplicitNull public var current: EpisodeResource?
    /// The planned episode that comes first; null if none is planned.
    @ExplicitNull public var next: EpisodeResource?
    /// The episode that ended last; null before the first.
    @ExplicitNull public var last: EpisodeResource?
    /// The watch page.
    public var url: String
    /// The playback URLs, the same for every episode.
    public var playback: PlaybackResource
    /// The time of creation.
    public var dateCreated: Timestamp
    /// The time of the last change.
    public var dateUpdated: Timestamp

    /// Creates a description.
    public init(
        id: String,
        name: String,
        title: String,
        description: String,
        poster: String?,
        timeZone: String,
        schedule: ShowScheduleResource?,
        opensBefore: Int,
        startsByItself: Bool,
        idleTimeout: Int,
        recording: Bool,
        replay: Bool = false,
        outputs: [ShowOutputResource],
        room: ShowRoomResource,
        seats: [SeatResource],
        scenes: [ShowSceneResource] = [],
        state: WireEnum<ShowStatus.State>,
        current: EpisodeResource?,
        next: EpisodeResource?,
        last: EpisodeResource?,
        url: String,
        playback: PlaybackResource,
        dateCreated: Timestamp,
        dateUpdated: Timestamp
    ) {
        self.id = id
        self.name = name
        self.title = title
        self.description = description
        self.poster = poster
        self.timeZone = timeZone
        self.schedule = schedule
        self.opensBefore = opensBefore
        self.startsByItself = startsByItself
        self.idleTimeout = idleTimeout
        self.recording = recording
        self.replay = replay
        self.outputs = outputs
        self.room = room
        self.seats = seats
        self.scenes = scenes
        self.state = state
        self.current = current
        self.next = next
        self.last = last
        self.url = url
        self.playback = playback
        self.dateCreated = dateCreated
        self.dateUpdated = dateUpdated
    }

    private enum CodingKeys: String, CodingKey {
        case id
        case name
        case title
        case description
        case poster
        case timeZone = "time_zone"
        case schedule
        case opensBefore = "opens_before"
        case startsByItself = "starts_by_itself"
        case idleTimeout = "idle_timeout"
        case recording
        case replay
        case outputs
        case room
        case seats
        case scenes
        case state
        case current
        case next
        case last
        case url
        case playback
        case dateCreated = "date_created"
        case dateUpdated = "date_updated"
    }
}

/// The response of `GET /v1/shows`.
public struct ShowList: Codable, Sendable, Hashable {
    /// By name.
    public var shows: [ShowResource]

    /// Creates a list.
    public init(shows: [ShowResource]) {
        self.shows = shows
    }
}

/// A layout with a name, which a director puts on air in one step.
public struct ShowSceneResource: Codable, Sendable, Hashable {
    /// The name.
    public var name: String
    /// The layout; its slates are not used.
    public var layout: LayoutSettingsResource

    /// Creates a scene.
    public init(name: String, layout: LayoutSettingsResource) {
        self.name = name
        self.layout = layout
    }
}

/// The days and the time of a show's episodes.
public struct ShowScheduleResource: Codable, Sendable, Hashable {
    /// The days, at least one.
    public var weekdays: [WireEnum<ShowSchedule.Weekday>]
    /// The time of day in the show's time zone, `HH:MM`.
    public var time: String

    /// Creates a schedule.
    public init(weekdays: [WireEnum<ShowSchedule.Weekday>], time: String) {
        self.weekdays = weekdays
        self.time = time
    }
}

/// An output of a show; its stream key is not shown.
public struct ShowOutputResource: Codable, Sendable, Hashable {
    /// The name.
    public var name: String
    /// The address without the stream key.
    public var url: String
    /// The rendition that is pushed; null for the program itself.
    @ExplicitNull public var rendition: String?

    /// Creates a description.
    public init(name: String, url: String, rendition: String?) {
        self.name = name
        self.url = url
        self.rendition = rendition
    }
}

/// The settings of each episode's room.
public struct ShowRoomResource: Codable, Sendable, Hashable {
    /// The type of call.
    public var type: WireEnum<RoomType>
    /// The maximum number of participants.
    public var maxParticipants: Int
    /// The maximum number of hosts.
    public var maxHosts: Int
    /// The maximum number of viewers; absent without a limit.
    public var maxAudience: Int?
    /// Who may watch.
    public var access: AccessResource
    /// The layout settings.
    public var layout: LayoutSettingsResource
    /// The audio mix settings.
    public var sound: RoomSoundResource
    /// The program's size and rates.
    public var program: ProgramResource

    /// Creates a description.
    public init(
        type: WireEnum<RoomType>,
        maxParticipants: Int,
        maxHosts: Int,
        maxAudience: Int?,
        access: AccessResource,
        layout: LayoutSettingsResource,
        sound: RoomSoundResource,
        program: ProgramResource
    ) {
        self.type = type
        self.maxParticipants = maxParticipants
        self.maxHosts = maxHosts
        self.maxAudience = maxAudience
        self.access = access
        self.layout = layout
        self.sound = sound
        self.program = program
    }

    private enum CodingKeys: String, CodingKey {
        case type
        case maxParticipants = "max_participants"
        case maxHosts = "max_hosts"
        case maxAudience = "max_audience"
        case access
        case layout
        case sound
        case program
    }
}

/// A host's seat, with the address and the keys for its encoder.
public struct SeatResource: Codable, Sendable, Hashable {
    /// The host's identity.
    public var identity: String
    /// The name on the tile.
    public var displayName: String
    /// Where the host's encoder publishes; the keys are the same in every episode.
    public var ingest: IngestResource
    /// The time when the keys were made.
    public var dateKeyCreated: Timestamp
    /// The removal of the host from the open episode; nil for a host who may connect.
    public var removal: RemovalResource?

    /// Creates a description.
    public init(
        identity: String,
        displayName: String,
        ingest: IngestResource,
        dateKeyCreated: Timestamp,
        removal: RemovalResource? = nil
    ) {
        self.identity = identity
        self.displayName = displayName
        self.ingest = ingest
        self.dateKeyCreated = dateKeyCreated
        self.removal = removal
    }

    private enum CodingKeys: String, CodingKey {
        case identity
        case displayName = "display_name"
        case ingest
        case dateKeyCreated = "date_key_created"
        case removal
    }
}

/// The removal of a host from an episode, which lasts to its end.
public struct RemovalResource: Codable, Sendable, Hashable {
    /// The time of the removal; nil where it is not known.
    public var at: Timestamp?
    /// The identity of who removed the host; nil where it is not known.
    public var by: String?

    /// Creates a description.
    public init(at: Timestamp? = nil, by: String? = nil) {
        self.at = at
        self.by = by
    }
}

/// What everyone may know of a show: the response of `GET /v1/shows/{show}/status`.
public struct ShowStatusResource: Codable, Sendable, Hashable {
    /// The name in addresses.
    public var name: String
    /// The title.
    public var title: String
    /// The description.
    public var description: String
    /// The title of the episode; empty if it has none.
    public var episodeTitle: String
    /// What viewers find: `upcoming`, `live` or `ended`.
    public var state: WireEnum<ShowStatus.State>
    /// The planned start of the upcoming episode; null if no time is planned.
    @ExplicitNull public var startsAt: Timestamp?
    /// The end of the last episode; null before the first.
    @ExplicitNull public var endedAt: Timestamp?
    /// The time zone of the show.
    public var timeZone: String
    /// The address of the poster; null for none.
    @ExplicitNull public var posterURL: String?
    /// The recordings of the last episode that everyone may watch, in the order of time.
    public var replays: [ReplayResource]
    /// The time at the gateway, by which a page counts down whatever its own clock says.
    public var now: Timestamp

    /// Creates a description.
    public init(
        name: String,
        title: String,
        description: String,
        episodeTitle: String,
        state: WireEnum<ShowStatus.State>,
        startsAt: Timestamp?,
        endedAt: Timestamp?,
        timeZone: String,
        posterURL: String?,
        replays: [ReplayResource] = [],
        now: Timestamp
    ) {
        self.name = name
        self.title = title
        self.description = description
        self.episodeTitle = episodeTitle
        self.state = state
        self.startsAt = startsAt
        self.endedAt = endedAt
        self.timeZone = timeZone
        self.posterURL = posterURL
        self.replays = replays
        self.now = now
    }

    private enum CodingKeys: String, CodingKey {
        case name
        case title
        case description
        case episodeTitle = "episode_title"
        case state
        case startsAt = "starts_at"
        case endedAt = "ended_at"
        case timeZone = "time_zone"
        case posterURL = "poster_url"
        case replays
        case now
    }
}

/// A recording that everyone may watch.
public struct ReplayResource: Codable, Sendable, Hashable {
    /// The address of the MP4 file.
    public var url: String
    /// The duration in seconds.
    public var duration: Double

    /// Creates a description.
    public init(url: String, duration: Double) {
        self.url = url
        self.duration = duration
    }
}
