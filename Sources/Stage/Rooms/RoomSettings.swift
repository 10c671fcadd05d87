/// The operator's settings of a room.
public struct RoomSettings: Sendable, Hashable, Codable {
    /// The room's unique name, `[A-Za-z0-9_-]{1,64}`; also its name in playback URLs.
    public var name: String
    /// The type of call, which decides who may join, speak and stream.
    public var type: RoomType {
        get { givenType ?? .default }
        set { givenType = newValue == .default ? nil : newValue }
    }
    /// Nil for the default, as in older records.
    private var givenType: RoomType?
    /// The maximum number of participants of any mode, 1 to 10 000; players are not counted.
    public var maximumParticipants: Int
    /// The maximum number of participants in SEND_AND_RECV, 1 to 50; only the first twelve have a tile.
    public var maximumHosts: Int
    /// The maximum number of viewers, 1 to 1 000 000; nil for no limit.
    public var maximumAudience: Int?
    /// Seconds after the last participant left until the room ends, 1 to `longestTimeout`.
    public var emptyTimeout: Int
    /// Seconds until an unused room ends, 1 to `longestTimeout`.
    public var unusedTimeout: Int
    /// Whether the room starts backstage, so that the audience does not see the hosts until it goes live.
    public var backstage: Bool
    /// The default call settings of clients; nil for everything on.
    public var callSettings: CallSettings?
    /// The layout settings.
    public var layout: LayoutSettings
    /// The encoding settings of the program.
    public var program: ProgramConfiguration
    /// Whether the program is always recorded; nil for false.
    public var isRecorded: Bool?
    /// The audio mix settings.
    public var sound: RoomAudioSettings
    /// Seconds for which the program shows its last slate after the end of the room, 0 to 60; nil for the default, see
    /// `lingerTime(afterShow:)`.
    public var linger: Int?
    /// Who may watch the program.
    public var audienceAccess: AudienceAccess {
        get { givenAccess ?? AudienceAccess() }
        set { givenAccess = newValue == AudienceAccess() ? nil : newValue }
    }
    /// Nil for a public room, as in older records.
    private var givenAccess: AudienceAccess?
    /// The order of hosts on stage; nil while nobody set one.
    public var hostOrder: HostOrder?

    /// Creates settings; omitted values have their defaults.
    ///
    /// Values are validated by `validate()` only.
    public init(
        name: String,
        type: RoomType = .default,
        maximumParticipants: Int = 100,
        maximumHosts: Int = 12,
        maximumAudience: Int? = nil,
        emptyTimeout: Int = 300,
        unusedTimeout: Int = 300,
        backstage: Bool = false,
        layout: LayoutSettings = .init(),
        program: ProgramConfiguration = .init(),
        sound: RoomAudioSettings = .init(),
        linger: Int? = nil
    ) {
        self.name = name
        self.maximumParticipants = maximumParticipants
        self.maximumHosts = maximumHosts
        self.maximumAudience = maximumAudience
        self.emptyTimeout = emptyTimeout
        self.unusedTimeout = unusedTimeout
        self.backstage = backstage
        self.layout = layout
        self.program = program
        self.sound = sound
        self.linger = linger
        self.type = type
    }

    /// The longest timeout of an empty or unused room in seconds: a year.
    public static let longestTimeout = 31_536_000
    /// The default linger time in seconds after a show, or with a custom end slate.
    public static let defaultLinger = 10

    /// Returns the effective linger time in seconds.
    ///
    /// Without a `linger` setting, the end slate is shown after a show; a room without a show and without a custom end
    /// slate ends at once.
    ///
    /// - Parameter wasOnAir: The audience saw or heard a host at least once.
    public func lingerTime(afterShow wasOnAir: Bool) -> Int {
        linger ?? (wasOnAir || layout.slates.ended != nil ? Self.defaultLinger : 0)
    }

    /// Validates every value.
    ///
    /// - Throws: 53100, 53101 or 53102 for the name, 53107 for `max_participants`, 3073 with the field's name for
    ///   others.
    public func validate() throws(StageError) {
        switch NameRule.check(name) {
        case nil: break
        case .empty: throw .roomNameInvalid
        case .tooLong: throw .roomNameTooLong
        case .wrongCharacters: throw .roomNameCharactersInvalid
        }
        guard (1...10_000).contains(maximumParticipants) else { throw .maximumParticipantsOutOfRange }
        try StageError.check(maximumHosts, in: 1...50, field: "max_hosts")
        if let maximumAudience { try StageError.check(maximumAudience, in: 1...1_000_000, field: "max_audience") }
        try StageError.check(emptyTimeout, in: 1...Self.longestTimeout, field: "empty_room_timeout")
        try StageError.check(unusedTimeout, in: 1...Self.longestTimeout, field: "unused_room_timeout")
        try layout.validate()
        try program.validate()
        try sound.validate()
        if let linger { try StageError.check(linger, in: 0...60, field: "linger") }
        try audienceAccess.validate()
    }
}

/// The type of call, which decides who may join, speak and stream.
///
/// To speak is to be in SEND_AND_RECV, to stream is to start and stop the livestream and HLS. A type only restricts: it
/// never permits what a token does not grant. Operators may do everything in every room, and tokens with the right
/// `participants` join and speak within their grants. All audience members may raise a hand.
///
/// | type | who joins | who speaks | who streams |
/// |---|---|---|---|
/// | `default` | anyone with a token | by token, invitation or accepted hand | tokens with `streaming` |
/// | `livestream` | anyone with a token, as audience | by invitation or accepted hand | tokens with `streaming` |
/// | `audio_room` | anyone with a token, as audience | by invitation or accepted hand | operators |
/// | `private` | by accepted invitation | as `default` | tokens with `streaming` |
///
/// Players that are not participants are not restricted.
public enum RoomType: String, Sendable, Hashable, Codable, CaseIterable {
    case `default`
    case livestream
    case audioRoom = "audio_room"
    case `private`

    /// Whether a join needs an accepted invitation.
    public var needsInvitationToJoin: Bool { self == .private }

    /// Whether speaking needs an invitation or an accepted hand.
    public var needsPermissionToSpeak: Bool { self == .livestream || self == .audioRoom }

    /// Whether only operators stream.
    public var isStreamedByOperators: Bool { self == .audioRoom }
}

// Errors of room types.

extension StageError {
    /// 20106: the room is private.
    public static let joiningNeedsInvitation = StageError(
        code: 20106,
        name: "AccessTokenGrantsInvalidError",
        message: "Only those who are invited join this room",
        cause: "The room's type is private, and this identity has accepted no invitation to it",
        solution: "Ask to be invited, accept, and join then",
        status: 403
    )
    /// 4065: the room's type requires a permission to speak.
    public static let speakingNeedsPermission = StageError(
        code: 4065,
        name: "CHANGE_MODE_FAILED",
        message: "Only those who are invited or accepted speak in this room",
        cause: "In rooms of the types livestream and audio_room no participant becomes a host by a token alone",
        solution: "Join as RECV_ONLY and raise a hand, or ask to be invited",
        status: 403
    )
    /// 20106: only operators stream the room.
    public static let streamingNeedsOperator = StageError(
        code: 20106,
        name: "AccessTokenGrantsInvalidError",
        message: "Only operators stream this room",
        cause: "In rooms of the type audio_room tokens of participants start and stop no livestream and no HLS",
        solution: "Ask an operator, or use a room of another type",
        status: 403
    )
}

/// The limits of one gateway's rooms.
public struct StageSettings: Sendable, Equatable {
    /// The maximum number of rooms in progress; beyond it, 53006.
    public var maximumRooms: Int
    /// The maximum number of retained ended rooms; the oldest is evicted first.
    public var maximumEndedRooms: Int
    /// The maximum number of replayable events of a room.
    public var replayedEvents: Int
    /// The maximum number of queued events of a slow reader before it is disconnected.
    public var waitingEvents: Int
    /// The maximum number of open event streams over all rooms; beyond it, 53006.
    public var maximumReaders: Int
    /// Whether a join creates a missing room with the defaults.
    public var createsRoomsOnJoin: Bool
    /// The default call settings of clients in rooms that do not set their own.
    public var callSettings: CallSettings
    /// The processor budget of the mixers; a host beyond it gets 53006, nil for no limit.
    public var processor: ProcessorBudget?

    /// Creates the limits; omitted values have their defaults.
    public init(
        maximumRooms: Int = 200,
        maximumEndedRooms: Int = 100,
        replayedEvents: Int = 1024,
        waitingEvents: Int = 256,
        maximumReaders: Int = 4000,
        createsRoomsOnJoin: Bool = false,
        callSettings: CallSettings = .init(),
        processor: ProcessorBudget? = nil
    ) {
        self.maximumRooms = maximumRooms
        self.maximumEndedRooms = maximumEndedRooms
        self.replayedEvents = replayedEvents
        self.waitingEvents = waitingEvents
        self.maximumReaders = maximumReaders
        self.createsRoomsOnJoin = createsRoomsOnJoin
        self.callSettings = callSettings
        self.processor = processor
    }
}
