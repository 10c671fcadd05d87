/// The body of `POST /v1/rooms`.
public struct CreateRoomBody: Codable, Sendable, Hashable {
    /// The room's name, `[A-Za-z0-9_-]{1,64}`.
    public var uniqueName: String
    /// What kind of call it is, which decides who may join, speak and stream: `default`, `livestream`, `audio_room` or
    /// `private`; `default` when left out.
    public var type: String?
    /// Signalled participants, 1 to 10 000; 100 when left out.
    public var maxParticipants: Int?
    /// Hosts, 1 to 50; 12 when left out.
    public var maxHosts: Int?
    /// Viewers, whatever they play with, 1 to 1 000 000; any number when left out.
    public var maxAudience: Int?
    /// Seconds an empty room stays; 300 when left out.
    public var emptyRoomTimeout: Int?
    /// Seconds a room that nobody joined stays; 300 when left out.
    public var unusedRoomTimeout: Int?
    /// The program is made, but withheld from the audience until the room goes live.
    public var backstage: Bool?
    /// What clients begin with whose users have not chosen; what is left out is as the gateway has it, else on.
    public var callSettings: CallSettingsBody?
    /// The arrangement of the tiles; a grid when left out.
    public var layout: LayoutBody?
    /// How the sound of the hosts is mixed.
    public var sound: RoomSoundBody?
    /// Seconds for which the program goes on with its last slate once the room has ended, 0 to 60; when left out, 10
    /// once a host was seen or heard, and for a room with a slate of its own for the end, else 0.
    public var linger: Int?
    /// The program's size and rates; 720p30 when left out.
    public var program: ProgramResource?
    /// Records the program whenever it is on; false when left out.
    public var recording: Bool?
    /// What begins by itself when the program begins.
    public var autoStart: AutoStartBody?

    /// Makes a body; what is left out is nil.
    public init(
        uniqueName: String,
        type: String? = nil,
        maxParticipants: Int? = nil,
        maxHosts: Int? = nil,
        maxAudience: Int? = nil,
        emptyRoomTimeout: Int? = nil,
        unusedRoomTimeout: Int? = nil,
        backstage: Bool? = nil,
        callSettings: CallSettingsBody? = nil,
        layout: LayoutBody? = nil,
        sound: RoomSoundBody? = nil,
        linger: Int? = nil,
        program: ProgramResource? = nil,
        autoStart: AutoStartBody? = nil
    ) {
        self.uniqueName = uniqueName
        self.type = type
        self.maxParticipants = maxParticipants
        self.maxHosts = maxHosts
        self.maxAudience = maxAudience
        self.emptyRoomTimeout = emptyRoomTimeout
        self.unusedRoomTimeout = unusedRoomTimeout
        self.backstage = backstage
        self.callSettings = callSettings
        self.layout = layout
        self.sound = sound
        self.linger = linger
        self.program = program
        self.autoStart = autoStart
    }

    private enum CodingKeys: String, CodingKey {
        case uniqueName = "unique_name"
        case type
        case maxParticipants = "max_participants"
        case maxHosts = "max_hosts"
        case maxAudience = "max_audience"
        case emptyRoomTimeout = "empty_room_timeout"
        case unusedRoomTimeout = "unused_room_timeout"
        case backstage
        case callSettings = "call_settings"
        case layout
        case sound
        case linger
        case program
        case recording
        case autoStart = "auto_start"
    }
}
