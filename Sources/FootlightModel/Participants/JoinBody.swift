public import Stage

/// The body of `POST /v1/rooms/{room}/participants`.
public struct JoinBody: Codable, Sendable, Hashable {
    /// The identity, `[A-Za-z0-9_-]{1,64}`; the token's identity when omitted.
    public var identity: String?
    /// The name on the tile; the identity when omitted.
    public var displayName: String?
    /// `SEND_AND_RECV`, `RECV_ONLY` or `SIGNALLING_ONLY`; the token's mode when omitted.
    public var mode: WireEnum<ParticipantMode>?
    /// Application data for other clients, up to 4 KiB.
    public var metadata: [String: AnyJSON]?
    /// The image shown without video: `asset:NAME`, or an `http://` or `https://` URL.
    public var avatar: String?
    /// The requested call settings.
    public var callSettings: CallSettingsBody?
    /// The requested limits of what the client sends.
    public var connectOptions: ConnectOptionsBody?
    /// The accepted invitation that permits the mode.
    public var invitationSID: String?

    /// Makes a body; what is left out is nil.
    public init(
        identity: String? = nil,
        displayName: String? = nil,
        mode: WireEnum<ParticipantMode>? = nil,
        metadata: [String: AnyJSON]? = nil,
        avatar: String? = nil,
        callSettings: CallSettingsBody? = nil,
        connectOptions: ConnectOptionsBody? = nil,
        invitationSID: String? = nil
    ) {
        self.identity = identity
        self.displayName = displayName
        self.mode = mode
        self.metadata = metadata
        self.avatar = avatar
        self.callSettings = callSettings
        self.connectOptions = connectOptions
        self.invitationSID = invitationSID
    }

    private enum CodingKeys: String, CodingKey {
        case identity
        case displayName = "display_name"
        case mode
        case metadata
        case avatar
        case callSettings = "call_settings"
        case connectOptions = "connect_options"
        case invitationSID = "invitation_sid"
    }
}

/// The response to a join or a reconnect.
public struct JoinAnswer: Codable, Sendable, Hashable {
    /// The participant.
    public var participant: ParticipantResource
    /// The id of the session.
    public var sessionID: String
    /// The room after the join.
    public var room: RoomResource
    /// The participants, in join order.
    public var participants: [ParticipantResource]
    /// The current tiles.
    public var tiles: [TileResource]
    /// The ingest addresses; null unless a host.
    @ExplicitNull public var ingest: IngestResource?
    /// The effective call settings: the requested ones, and the gateway's defaults for the rest.
    public var callSettings: CallSettingsResource
    /// The limits of what a host may send; null unless a host.
    @ExplicitNull public var connectOptions: ConnectOptionsResource?
    /// The playback URLs.
    public var playback: PlaybackResource
    /// The URL of the room's event stream.
    public var eventsURL: String
    /// The heartbeat interval in seconds.
    public var heartbeatInterval: Int
    /// Seconds after which a lost session is removed.
    public var sessionTimeout: Int
    /// Seconds within which a reconnect needs no new join.
    public var fastReconnectDeadline: Int

    /// Makes an answer.
    public init(
        participant: ParticipantResource,
        sessionID: String,
        room: RoomResource,
        participants: [ParticipantResource],
        tiles: [TileResource],
        ingest: IngestResource?,
        callSettings: CallSettingsResource,
        connectOptions: ConnectOptionsResource?,
        playback: PlaybackResource,
        eventsURL: String,
        heartbeatInterval: Int,
        sessionTimeout: Int,
        fastReconnectDeadline: Int
    ) {
        self.participant = participant
        self.sessionID = sessionID
        self.room = room
        self.participants = participants
        self.tiles = tiles
        self.ingest = ingest
        self.callSettings = callSettings
        self.connectOptions = connectOptions
        self.playback = playback
        self.eventsURL = eventsURL
        self.heartbeatInterval = heartbeatInterval
        self.sessionTimeout = sessionTimeout
        self.fastReconnectDeadline = fastReconnectDeadline
    }

    private enum CodingKeys: String, CodingKey {
        case participant
        case sessionID = "session_id"
        case room
        case participants
        case tiles
        case ingest
        case callSettings = "call_settings"
        case connectOptions = "connect_options"
        case playback
        case eventsURL = "events_url"
        case heartbeatInterval = "heartbeat_interval"
        case sessionTimeout = "session_timeout"
        case fastReconnectDeadline = "fast_reconnect_deadline"
    }
}

/// The requested call settings of a client.
public struct CallSettingsBody: Codable, Sendable, Hashable {
    /// Whether the microphone is on.
    public var audioOn: Bool?
    /// Whether the camera is on.
    public var videoOn: Bool?
    /// Whether audio is played on the loudspeaker.
    public var speakerOn: Bool?
    /// Whether audio is played.
    public var audioOutputOn: Bool?
    /// `front` or `back`.
    public var cameraPosition: WireEnum<CallSettings.CameraPosition>?

    /// Makes a body; what is left out is nil.
    public init(
        audioOn: Bool? = nil,
        videoOn: Bool? = nil,
        speakerOn: Bool? = nil,
        audioOutputOn: Bool? = nil,
        cameraPosition: WireEnum<CallSettings.CameraPosition>? = nil
    ) {
        self.audioOn = audioOn
        self.videoOn = videoOn
        self.speakerOn = speakerOn
        self.audioOutputOn = audioOutputOn
        self.cameraPosition = cameraPosition
    }

    private enum CodingKeys: String, CodingKey {
        case audioOn = "audio_on"
        case videoOn = "video_on"
        case speakerOn = "speaker_on"
        case audioOutputOn = "audio_output_on"
        case cameraPosition = "camera_position"
    }
}

/// The initial call settings of a client.
public struct CallSettingsResource: Codable, Sendable, Hashable {
    /// Whether the microphone is published.
    public var audioOn: Bool
    /// Whether the camera is published.
    public var videoOn: Bool
    /// Whether audio is played on the loudspeaker.
    public var speakerOn: Bool
    /// Whether audio is played.
    public var audioOutputOn: Bool
    /// `front` or `back`.
    public var cameraPosition: WireEnum<CallSettings.CameraPosition>

    /// Makes settings.
    public init(
        audioOn: Bool,
        videoOn: Bool,
        speakerOn: Bool,
        audioOutputOn: Bool,
        cameraPosition: WireEnum<CallSettings.CameraPosition>
    ) {
        self.audioOn = audioOn
        self.videoOn = videoOn
        self.speakerOn = speakerOn
        self.audioOutputOn = audioOutputOn
        self.cameraPosition = cameraPosition
    }

    private enum CodingKeys: String, CodingKey {
        case audioOn = "audio_on"
        case videoOn = "video_on"
        case speakerOn = "speaker_on"
        case audioOutputOn = "audio_output_on"
        case cameraPosition = "camera_position"
    }
}

/// The requested limits of what a client sends.
public struct ConnectOptionsBody: Codable, Sendable, Hashable {
    /// Video and audio together in kb/s, 100 or more.
    public var maxBitrate: Int?
    /// Video width in pixels, even.
    public var width: Int?
    /// Video height in pixels, even.
    public var height: Int?

    /// Makes a body; what is left out is nil.
    public init(maxBitrate: Int? = nil, width: Int? = nil, height: Int? = nil) {
        self.maxBitrate = maxBitrate
        self.width = width
        self.height = height
    }

    private enum CodingKeys: String, CodingKey {
        case maxBitrate = "max_bitrate"
        case width
        case height
    }
}

/// The limits of what a host may send.
public struct ConnectOptionsResource: Codable, Sendable, Hashable {
    /// Video and audio together in kb/s.
    public var maxBitrate: Int
    /// Video width in pixels.
    public var width: Int
    /// Video height in pixels.
    public var height: Int

    /// Makes limits.
    public init(maxBitrate: Int, width: Int, height: Int) {
        self.maxBitrate = maxBitrate
        self.width = width
        self.height = height
    }

    private enum CodingKeys: String, CodingKey {
        case maxBitrate = "max_bitrate"
        case width
        case height
    }
}

/// The ingest addresses of a host.
public struct IngestResource: Codable, Sendable, Hashable {
    /// The RTMP address; that of RTMPS in an answer to a request by HTTPS.
    public var rtmp: RTMPIngestResource
    /// The RTMPS address; nil if the gateway offers none.
    public var rtmps: RTMPIngestResource?

    /// Makes ingest addresses.
    public init(rtmp: RTMPIngestResource, rtmps: RTMPIngestResource? = nil) {
        self.rtmp = rtmp
        self.rtmps = rtmps
    }
}

/// The RTMP or RTMPS ingest address of a host.
public struct RTMPIngestResource: Codable, Sendable, Hashable {
    /// The server address for the encoder.
    public var url: String
    /// The stream key for camera and microphone; shown only here.
    public var streamKey: String
    /// The stream key for the screen; shown only here.
    public var screenStreamKey: String

    /// Makes an address.
    public init(url: String, streamKey: String, screenStreamKey: String) {
        self.url = url
        self.streamKey = streamKey
        self.screenStreamKey = screenStreamKey
    }

    private enum CodingKeys: String, CodingKey {
        case url
        case streamKey = "stream_key"
        case screenStreamKey = "screen_stream_key"
    }
}

/// The body of `POST /v1/rooms/{room}/participants/{participant}/heartbeat`.
public struct HeartbeatBody: Codable, Sendable, Hashable {
    /// The session id of the join.
    public var sessionID: String
    /// The microphone's level in dBFS as the client measures it; used until the mixer reports one.
    public var audioLevel: Double?

    /// Makes a body; what is left out is nil.
    public init(sessionID: String, audioLevel: Double? = nil) {
        self.sessionID = sessionID
        self.audioLevel = audioLevel
    }

    private enum CodingKeys: String, CodingKey {
        case sessionID = "session_id"
        case audioLevel = "audio_level"
    }
}

/// The body of `POST /v1/rooms/{room}/participants/{participant}/reconnect`.
public struct ReconnectBody: Codable, Sendable, Hashable {
    /// The session id of the join.
    public var sessionID: String
    /// The revision of the last received event.
    public var lastEventID: EventID?

    /// Makes a body; what is left out is nil.
    public init(sessionID: String, lastEventID: EventID? = nil) {
        self.sessionID = sessionID
        self.lastEventID = lastEventID
    }

    private enum CodingKeys: String, CodingKey {
        case sessionID = "session_id"
        case lastEventID = "last_event_id"
    }
}
