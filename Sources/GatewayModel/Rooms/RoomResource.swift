/// A room.
public struct RoomResource: Codable, Sendable, Hashable {
    /// `RM…`.
    public var sid: String
    /// The name in addresses.
    public var uniqueName: String
    /// What kind of call it is: `default`, `livestream`, `audio_room` or `private`; gateways of earlier versions do not
    /// say it.
    public var type: String?
    /// `in-progress` or `completed`.
    public var status: String
    /// The program is withheld from the audience.
    public var backstage: Bool
    /// The audience saw or heard a host at least once.
    public var wasOnAir: Bool
    /// Signalled participants at most.
    public var maxParticipants: Int
    /// Hosts at most.
    public var maxHosts: Int
    /// What clients begin with whose users have not chosen; gateways of earlier versions do not say it.
    public var callSettings: CallSettingsResource?
    /// Viewers at most; left out where there is no limit.
    public var maxAudience: Int?
    /// Seconds an empty room stays.
    public var emptyRoomTimeout: Int
    /// Seconds a room that nobody joined stays.
    public var unusedRoomTimeout: Int
    /// How many are there.
    public var counts: CountsResource
    /// Who speaks; null while nobody does.
    @ExplicitNull public var dominantSpeakerSID: String?
    /// The arrangement of the tiles.
    public var layout: LayoutSettingsResource
    /// How the sound of the hosts is mixed.
    public var sound: RoomSoundResource
    /// Seconds for which the program goes on with its last slate once the room has ended.
    public var linger: Int
    /// How the room's mixer is doing, and what the program does without; left out before the mixer has said so.
    public var degradation: MixerLoadResource?
    /// How the program leaves.
    public var egress: EgressResource
    /// The program's size and rates.
    public var program: ProgramResource
    /// Where to watch.
    public var playback: PlaybackResource
    /// The revision of the room's latest event.
    public var revision: UInt64
    /// When it was made.
    public var dateCreated: Timestamp
    /// When it last changed.
    public var dateUpdated: Timestamp
    /// When it ended; null while in progress.
    @ExplicitNull public var endTime: Timestamp?
    /// Addresses of what belongs to the room, by name.
    public var links: [String: String]

    /// Makes a room.
    public init(
        sid: String,
        uniqueName: String,
        status: String,
        backstage: Bool,
        wasOnAir: Bool = false,
        maxParticipants: Int,
        maxHosts: Int,
        emptyRoomTimeout: Int,
        unusedRoomTimeout: Int,
        counts: CountsResource,
        dominantSpeakerSID: String?,
        layout: LayoutSettingsResource,
        sound: RoomSoundResource = RoomSoundResource(),
        linger: Int = 0,
        egress: EgressResource,
        program: ProgramResource,
        playback: PlaybackResource,
        revision: UInt64,
        dateCreated: Timestamp,
        dateUpdated: Timestamp,
        endTime: Timestamp?,
        links: [String: String]
    ) {
        self.sid = sid
        self.uniqueName = uniqueName
        self.status = status
        self.backstage = backstage
        self.wasOnAir = wasOnAir
        self.maxParticipants = maxParticipants
        self.maxHosts = maxHosts
        self.emptyRoomTimeout = emptyRoomTimeout
        self.unusedRoomTimeout = unusedRoomTimeout
        self.counts = counts
        self.dominantSpeakerSID = dominantSpeakerSID
        self.layout = layout
        self.sound = sound
        self.linger = linger
        self.egress = egress
        self.program = program
        self.playback = playback
        self.revision = revision
        self.dateCreated = dateCreated
        self.dateUpdated = dateUpdated
        self.endTime = endTime
        self.links = links
    }

    private enum CodingKeys: String, CodingKey {
        case sid
        case uniqueName = "unique_name"
        case type
        case status
        case backstage
        case wasOnAir = "was_on_air"
        case maxParticipants = "max_participants"
        case maxHosts = "max_hosts"
        case maxAudience = "max_audience"
        case emptyRoomTimeout = "empty_room_timeout"
        case unusedRoomTimeout = "unused_room_timeout"
        case callSettings = "call_settings"
        case counts
        case dominantSpeakerSID = "dominant_speaker_sid"
        case layout
        case sound
        case linger
        case degradation
        case egress
        case program
        case playback
        case revision
        case dateCreated = "date_created"
        case dateUpdated = "date_updated"
        case endTime = "end_time"
        case links
    }
}
