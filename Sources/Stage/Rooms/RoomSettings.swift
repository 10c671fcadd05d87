/// What an operator decides about a room when it is made.
public struct RoomSettings: Sendable, Hashable, Codable {
    /// The room's unique name, `[A-Za-z0-9_-]{1,64}`; also its name in playback addresses.
    public var name: String
    /// What kind of call it is, which decides who may join, speak and stream.
    public var type: RoomType {
        get { givenType ?? .default }
        set { givenType = newValue == .default ? nil : newValue }
    }
    /// Nil for the default, as in records that do not say.
    private var givenType: RoomType?
    /// Signalled participants of any mode, 1 to 10 000; players are not counted here.
    public var maximumParticipants: Int
    /// Participants in SEND_AND_RECV, 1 to 50; only the first twelve have a tile.
    public var maximumHosts: Int
    /// Viewers, whatever they play with, 1 to 1 000 000; nil for any number.
    public var maximumAudience: Int?
    /// Seconds after the last participant left until the room ends, 1 to 86 400.
    public var emptyTimeout: Int
    /// Seconds until a room that nobody ever joined ends, 1 to 86 400.
    public var unusedTimeout: Int
    /// Begins with the hosts backstage: they prepare, and the audience sees nothing of it until the room goes live.
    public var backstage: Bool
    /// What clients begin with whose users have not chosen; nil for everything on.
    public var callSettings: CallSettings?
    /// How the tiles are arranged.
    public var layout: LayoutSettings
    /// What the program looks and sounds like.
    public var program: ProgramConfiguration
    /// The program is recorded whenever it is on; nil is false.
    public var isRecorded: Bool?
    /// How the sound of the hosts is mixed.
    public var sound: RoomSound
    /// Seconds for which the program goes on with its last slate once the room has ended, 0 to 60; nil for the usual
    /// time, see `lingerTime(afterShow:)`.
    public var linger: Int?

    /// Makes settings; what is not named has its default.
    ///
    /// Nothing is checked before `validate()`.
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
        sound: RoomSound = .init(),
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

    /// Seconds of `linger` after a show, and for a room with a slate of its own for the end: it was given to be seen.
    public static let usualLinger = 10

    /// Seconds for which the program really goes on once the room has ended.
    ///
    /// Without a word of `linger` those who watched a show are told that it is over; a room in which there was none, and
    /// for whose end nobody thought of a slate, is over at once.
    ///
    /// - Parameter wasOnAir: The audience saw or heard a host at least once.
    public func lingerTime(afterShow wasOnAir: Bool) -> Int {
        linger ?? (wasOnAir || layout.slates.ended != nil ? Self.usualLinger : 0)
    }

    /// Checks every value against its range.
    ///
    /// - Throws: 53100, 53101 or 53102 for the name, 53107 for `max_participants`, 3073 with the field's name for others.
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
        try StageError.check(emptyTimeout, in: 1...86_400, field: "empty_room_timeout")
        try StageError.check(unusedTimeout, in: 1...86_400, field: "unused_room_timeout")
        try layout.validate()
        try program.validate()
        try sound.validate()
        if let linger { try StageError.check(linger, in: 0...60, field: "linger") }
    }
}
