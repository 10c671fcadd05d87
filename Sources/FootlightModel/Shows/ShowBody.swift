public import Stage

/// The body of `POST /v1/shows`, and of `PATCH /v1/shows/{show}`, where omitted fields stay unchanged.
public struct ShowBody: Codable, Sendable, Hashable {
    /// The name, `[A-Za-z0-9_-]{1,64}`; needed for a new show, and never changed.
    public var name: String?
    /// The title that viewers read, at most 200 bytes.
    public var title: String?
    /// The description that viewers read, at most 4,000 bytes.
    public var description: String?
    /// The name of the show's asset that early viewers see; null for none.
    public var poster: ExplicitNull<String>?
    /// The time zone of the schedule, such as `Europe/Berlin`; UTC for a new show that names none.
    public var timeZone: String?
    /// When episodes take place; null for those that are planned one by one.
    public var schedule: ExplicitNull<ShowScheduleResource>?
    /// Seconds before its planned start at which an episode opens for its hosts, 0 to 604,800; 3600 for a new show.
    public var opensBefore: Int?
    /// Whether an episode goes live by itself at its planned start; false for a new show.
    public var startsByItself: Bool?
    /// Seconds without a connected host after which an episode ends, 60 to 604,800; 3600 for a new show.
    public var idleTimeout: Int?
    /// Whether what is live is recorded; false for a new show.
    public var recording: Bool?
    /// Whether everyone may watch the recordings of the last episode; false for a new show.
    public var replay: Bool?
    /// The outputs that start when an episode goes live, instead of those before.
    public var outputs: [OutputBody]?
    /// The settings of each episode's room, from the next episode on.
    public var room: ShowRoomBody?
    /// The hosts' seats, for a new show only.
    public var seats: [SeatBody]?
    /// The scenes in the order of the show, instead of those before; at most 50.
    public var scenes: [ShowSceneBody]?

    /// Creates a body; omitted fields are nil.
    public init(
        name: String? = nil,
        title: String? = nil,
        description: String? = nil,
        poster: ExplicitNull<String>? = nil,
        timeZone: String? = nil,
        schedule: ExplicitNull<ShowScheduleResource>? = nil,
        opensBefore: Int? = nil,
        startsByItself: Bool? = nil,
        idleTimeout: Int? = nil,
        recording: Bool? = nil,
        replay: Bool? = nil,
        outputs: [OutputBody]? = nil,
        room: ShowRoomBody? = nil,
        seats: [SeatBody]? = nil,
        scenes: [ShowSceneBody]? = nil
    ) {
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
    }

    private enum CodingKeys: String, CodingKey {
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
    }
}

/// A layout with a name, in `ShowBody`.
public struct ShowSceneBody: Codable, Sendable, Hashable {
    /// The name, 1 to 100 bytes, different from those of the show's other scenes.
    public var name: String
    /// The layout, all of it anew; its slates are not used, because those belong to the show.
    public var layout: LayoutBody

    /// Creates a scene.
    public init(name: String, layout: LayoutBody) {
        self.name = name
        self.layout = layout
    }
}

/// The settings of each episode's room, in `ShowBody`; omitted fields stay unchanged.
public struct ShowRoomBody: Codable, Sendable, Hashable {
    /// The type of call.
    public var type: WireEnum<RoomType>?
    /// The maximum number of participants, 1 to 10 000.
    public var maxParticipants: Int?
    /// The maximum number of hosts, 1 to 50.
    public var maxHosts: Int?
    /// The maximum number of viewers, 1 to 1 000 000; null for no limit.
    public var maxAudience: ExplicitNull<Int>?
    /// Who may watch.
    public var access: AccessBody?
    /// The default call settings of clients.
    public var callSettings: CallSettingsBody?
    /// The layout.
    public var layout: LayoutBody?
    /// The audio mix settings.
    public var sound: RoomSoundBody?
    /// Seconds for which the program shows its last slate after an episode, 0 to 60.
    public var linger: Int?
    /// The program's size and rates, all of them anew.
    public var program: ProgramResource?

    /// Creates a body; omitted fields are nil.
    public init(
        type: WireEnum<RoomType>? = nil,
        maxParticipants: Int? = nil,
        maxHosts: Int? = nil,
        maxAudience: ExplicitNull<Int>? = nil,
        access: AccessBody? = nil,
        callSettings: CallSettingsBody? = nil,
        layout: LayoutBody? = nil,
        sound: RoomSoundBody? = nil,
        linger: Int? = nil,
        program: ProgramResource? = nil
    ) {
        self.type = type
        self.maxParticipants = maxParticipants
        self.maxHosts = maxHosts
        self.maxAudience = maxAudience
        self.access = access
        self.callSettings = callSettings
        self.layout = layout
        self.sound = sound
        self.linger = linger
        self.program = program
    }

    private enum CodingKeys: String, CodingKey {
        case type
        case maxParticipants = "max_participants"
        case maxHosts = "max_hosts"
        case maxAudience = "max_audience"
        case access
        case callSettings = "call_settings"
        case layout
        case sound
        case linger
        case program
    }
}

/// The body of `POST /v1/shows/{show}/seats`, and a seat of a new show.
public struct SeatBody: Codable, Sendable, Hashable {
    /// The host's identity, `[A-Za-z0-9_-]{1,64}`.
    public var identity: String
    /// The name on the tile; the identity when omitted.
    public var displayName: String?

    /// Creates a body.
    public init(identity: String, displayName: String? = nil) {
        self.identity = identity
        self.displayName = displayName
    }

    private enum CodingKeys: String, CodingKey {
        case identity
        case displayName = "display_name"
    }
}
