public import Stage

/// A room.
public struct RoomResource: Codable, Sendable, Hashable {
    /// `RM…`.
    public var sid: String
    /// The name in addresses.
    public var uniqueName: String
    /// The type of call: `default`, `livestream`, `audio_room` or `private`; absent from gateways of earlier versions.
    public var type: WireEnum<RoomType>?
    /// `in-progress` or `completed`.
    public var status: WireEnum<RoomStatus>
    /// Whether the program is hidden from the audience.
    public var backstage: Bool
    /// Whether the audience saw or heard a host at least once.
    public var wasOnAir: Bool
    /// The maximum number of participants.
    public var maxParticipants: Int
    /// The maximum number of hosts.
    public var maxHosts: Int
    /// The default call settings of clients; absent from gateways of earlier versions.
    public var callSettings: CallSettingsResource?
    /// The maximum number of viewers; absent without a limit.
    public var maxAudience: Int?
    /// Who may watch; absent if everyone may.
    public var access: AccessResource?
    /// The empty timeout in seconds.
    public var emptyRoomTimeout: Int
    /// The unused timeout in seconds.
    public var unusedRoomTimeout: Int
    /// The counts of participants and viewers.
    public var counts: CountsResource
    /// The sid of the dominant speaker; null without one.
    @ExplicitNull public var dominantSpeakerSID: String?
    /// The layout settings.
    public var layout: LayoutSettingsResource
    /// The audio mix settings.
    public var sound: RoomSoundResource
    /// The identities of hosts in their order on stage, also of some who left; absent while nobody set an order.
    public var hostOrder: [String]?
    /// Seconds for which the program shows its last slate after the end of the room.
    public var linger: Int
    /// The load of the room's mixer and the degradation level; absent before the first report.
    public var degradation: MixerLoadResource?
    /// The outputs and the playlist of the program.
    public var egress: EgressResource
    /// The program's size and rates.
    public var program: ProgramResource
    /// The playback URLs.
    public var playback: PlaybackResource
    /// The revision of the room's latest event.
    public var revision: UInt64
    /// The creation time.
    public var dateCreated: Timestamp
    /// The time of the last change.
    public var dateUpdated: Timestamp
    /// The end time; null while in progress.
    @ExplicitNull public var endTime: Timestamp?
    /// URLs of related resources, by name.
    public var links: [String: String]
    /// The name of the gateway that has the room; absent from gateways that run alone.
    public var node: String?

    /// Creates a room.
    public init(
        sid: String,
        uniqueName: String,
        status: WireEnum<RoomStatus>,
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
        case access
        case emptyRoomTimeout = "empty_room_timeout"
        case unusedRoomTimeout = "unused_room_timeout"
        case callSettings = "call_settings"
        case counts
        case dominantSpeakerSID = "dominant_speaker_sid"
        case layout
        case sound
        case hostOrder = "host_order"
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
        case node
    }
}

/// The response of `GET /v1/rooms`.
public struct RoomList: Codable, Sendable, Hashable {
    /// By date of creation.
    public var rooms: [RoomResource]
    /// The next page.
    public var meta: PageResource
    /// The names of the gateways whose rooms are missing, because they did not answer in time; absent if none are.
    public var unreachableNodes: [String]?

    /// Makes a list.
    public init(rooms: [RoomResource], meta: PageResource, unreachableNodes: [String]? = nil) {
        self.rooms = rooms
        self.meta = meta
        self.unreachableNodes = unreachableNodes
    }

    private enum CodingKeys: String, CodingKey {
        case rooms
        case meta
        case unreachableNodes = "unreachable_nodes"
    }
}

/// The counts of a room's participants and viewers.
public struct CountsResource: Codable, Sendable, Hashable {
    /// Participants that publish.
    public var hosts: Int
    /// Viewers: participants that watch, once each, and anonymous players; never a host.
    public var audience: Int
    /// Players without a present participant.
    public var anonymous: Int
    /// Participants that neither publish nor watch.
    public var signallingOnly: Int
    /// Participants of every mode.
    public var participants: Int

    /// Makes counts.
    public init(hosts: Int, audience: Int, anonymous: Int, signallingOnly: Int, participants: Int) {
        self.hosts = hosts
        self.audience = audience
        self.anonymous = anonymous
        self.signallingOnly = signallingOnly
        self.participants = participants
    }

    private enum CodingKeys: String, CodingKey {
        case hosts
        case audience
        case anonymous
        case signallingOnly = "signalling_only"
        case participants
    }
}

/// The body of `POST /v1/rooms`.
public struct CreateRoomBody: Codable, Sendable, Hashable {
    /// The room's name, `[A-Za-z0-9_-]{1,64}`.
    public var uniqueName: String
    /// The type of call, which decides who may join, speak and stream: `default`, `livestream`, `audio_room` or
    /// `private`; `default` when omitted.
    public var type: WireEnum<RoomType>?
    /// The maximum number of participants, 1 to 10 000; 100 when omitted.
    public var maxParticipants: Int?
    /// The maximum number of hosts, 1 to 50; 12 when omitted.
    public var maxHosts: Int?
    /// The maximum number of viewers, 1 to 1 000 000; no limit when omitted.
    public var maxAudience: Int?
    /// Who may watch; everyone when omitted.
    public var access: AccessBody?
    /// The empty timeout in seconds; 300 when omitted.
    public var emptyRoomTimeout: Int?
    /// The unused timeout in seconds; 300 when omitted.
    public var unusedRoomTimeout: Int?
    /// Whether the program is hidden from the audience until the room goes live.
    public var backstage: Bool?
    /// The default call settings of clients; omitted ones are as the gateway has them, else on.
    public var callSettings: CallSettingsBody?
    /// The layout; a grid when omitted.
    public var layout: LayoutBody?
    /// The audio mix settings.
    public var sound: RoomSoundBody?
    /// Seconds for which the program shows its last slate after the end of the room, 0 to 60; when omitted, 10 after a
    /// show and with a custom end slate, else 0.
    public var linger: Int?
    /// The program's size and rates; 720p30 when omitted.
    public var program: ProgramResource?
    /// Whether the program is always recorded; false when omitted.
    public var recording: Bool?
    /// The actions that start with the program.
    public var autoStart: AutoStartBody?

    /// Makes a body; what is left out is nil.
    public init(
        uniqueName: String,
        type: WireEnum<RoomType>? = nil,
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
        autoStart: AutoStartBody? = nil,
        access: AccessBody? = nil
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
        self.access = access
    }

    private enum CodingKeys: String, CodingKey {
        case uniqueName = "unique_name"
        case type
        case maxParticipants = "max_participants"
        case maxHosts = "max_hosts"
        case maxAudience = "max_audience"
        case access
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

/// The body of `POST /v1/rooms/{room}`.
public struct UpdateRoomBody: Codable, Sendable, Hashable {
    /// `completed` ends the room.
    public var status: WireEnum<RoomStatus>

    /// Creates a body.
    public init(status: WireEnum<RoomStatus>) {
        self.status = status
    }
}

/// The playback URLs of a room's program.
public struct PlaybackResource: Codable, Sendable, Hashable {
    /// HLS, a multivariant playlist.
    public var hlsURL: String
    /// RTMP.
    public var rtmpURL: String
    /// HTTP-FLV.
    public var flvURL: String
    /// The participant's own session id; null for requests without a participant.
    ///
    /// A player that presents it as `sid`, as the URLs then do, counts as that participant; a host's does not count.
    @ExplicitNull public var viewerToken: String?

    /// Makes addresses.
    public init(hlsURL: String, rtmpURL: String, flvURL: String, viewerToken: String? = nil) {
        self.hlsURL = hlsURL
        self.rtmpURL = rtmpURL
        self.flvURL = flvURL
        self.viewerToken = viewerToken
    }

    private enum CodingKeys: String, CodingKey {
        case hlsURL = "hls_url"
        case rtmpURL = "rtmp_url"
        case flvURL = "flv_url"
        case viewerToken = "viewer_token"
    }
}
