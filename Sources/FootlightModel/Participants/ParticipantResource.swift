public import Stage

/// A participant.
public struct ParticipantResource: Codable, Sendable, Hashable {
    /// `PA…`.
    public var sid: String
    /// The identity; unique in the room.
    public var identity: String
    /// The name on the tile.
    public var displayName: String
    /// `SEND_AND_RECV`, `RECV_ONLY` or `SIGNALLING_ONLY`.
    public var mode: WireEnum<ParticipantMode>
    /// `connecting`, `connected`, `reconnecting` or `disconnected`.
    public var status: WireEnum<ParticipantStatus>
    /// Whether a microphone track is published, subscribed and enabled.
    public var isMicOn: Bool
    /// Whether a camera track is published, subscribed and enabled.
    public var isCameraOn: Bool
    /// Whether a screen track is published, subscribed and enabled.
    public var isScreenSharing: Bool
    /// Whether the participant speaks now.
    public var isSpeaking: Bool
    /// Whether the participant is the dominant speaker.
    public var isDominantSpeaker: Bool
    /// dBFS, -127 for silence; null without a microphone.
    @ExplicitNull public var audioLevel: Double?
    /// The pin; null unless pinned.
    @ExplicitNull public var pin: PinResource?
    /// The tile's index; null without a tile.
    @ExplicitNull public var position: Int?
    /// In the order mic, camera, screen.
    public var tracks: [TrackResource]
    /// Tracks whose media is dropped, because the host has a session and did not publish them; absent without any.
    public var discarded: [WireEnum<TrackName>]?
    /// Application data for other clients.
    public var metadata: [String: AnyJSON]
    /// The image shown without video, `asset:NAME` or a URL; null without one.
    @ExplicitNull public var avatar: String?
    /// The audio mix settings as a host.
    public var sound: ParticipantSoundResource
    /// The A/V sync of the host's media, which changes without an event; null while unknown.
    @ExplicitNull public var sync: SyncResource?
    /// The A/V sync of the host's screen, where `sync` belongs to its camera; absent otherwise.
    public var screenSync: SyncResource?
    /// The end of the host's quarantine after its media crashed the mixer repeatedly; null without one.
    @ExplicitNull public var quarantinedUntil: Timestamp?
    /// The time of the join.
    public var joinedAt: Timestamp
    /// The number of changes of the participant.
    public var revision: UInt64

    /// Creates a participant; silent, not pinned and without metadata by default.
    public init(
        sid: String,
        identity: String,
        displayName: String,
        mode: WireEnum<ParticipantMode>,
        status: WireEnum<ParticipantStatus>,
        isMicOn: Bool,
        isCameraOn: Bool,
        isScreenSharing: Bool,
        isSpeaking: Bool = false,
        isDominantSpeaker: Bool = false,
        audioLevel: Double? = nil,
        pin: PinResource? = nil,
        position: Int?,
        tracks: [TrackResource],
        metadata: [String: AnyJSON] = [:],
        avatar: String? = nil,
        sound: ParticipantSoundResource = ParticipantSoundResource(),
        sync: SyncResource? = nil,
        screenSync: SyncResource? = nil,
        quarantinedUntil: Timestamp? = nil,
        joinedAt: Timestamp,
        revision: UInt64
    ) {
        self.sid = sid
        self.identity = identity
        self.displayName = displayName
        self.mode = mode
        self.status = status
        self.isMicOn = isMicOn
        self.isCameraOn = isCameraOn
        self.isScreenSharing = isScreenSharing
        self.isSpeaking = isSpeaking
        self.isDominantSpeaker = isDominantSpeaker
        self.audioLevel = audioLevel
        self.pin = pin
        self.position = position
        self.tracks = tracks
        self.metadata = metadata
        self.avatar = avatar
        self.sound = sound
        self.sync = sync
        self.screenSync = screenSync
        self.quarantinedUntil = quarantinedUntil
        self.joinedAt = joinedAt
        self.revision = revision
    }

    private enum CodingKeys: String, CodingKey {
        case sid
        case identity
        case displayName = "display_name"
        case mode
        case status
        case isMicOn = "is_mic_on"
        case isCameraOn = "is_camera_on"
        case isScreenSharing = "is_screen_sharing"
        case isSpeaking = "is_speaking"
        case isDominantSpeaker = "is_dominant_speaker"
        case audioLevel = "audio_level"
        case pin
        case position
        case tracks
        case discarded
        case metadata
        case avatar
        case sound
        case sync
        case screenSync = "screen_sync"
        case quarantinedUntil = "quarantined_until"
        case joinedAt = "joined_at"
        case revision
    }
}

/// The response of `GET /v1/rooms/{room}/participants`.
public struct ParticipantList: Codable, Sendable, Hashable {
    /// In join order, the hosts among them in their order on stage.
    public var participants: [ParticipantResource]
    /// The next page.
    public var meta: PageResource

    /// Makes a list.
    public init(participants: [ParticipantResource], meta: PageResource) {
        self.participants = participants
        self.meta = meta
    }
}

/// The body of `PATCH /v1/rooms/{room}/participants/{participant}`; omitted fields stay unchanged.
public struct UpdateParticipantBody: Codable, Sendable, Hashable {
    /// The name on the tile.
    public var displayName: String?
    /// Replaces the former metadata.
    public var metadata: [String: AnyJSON]?
    /// The image shown without video, `asset:NAME` or a URL; null removes it.
    public var avatar: ExplicitNull<String>?

    /// Makes a body; what is left out is nil.
    public init(
        displayName: String? = nil,
        metadata: [String: AnyJSON]? = nil,
        avatar: ExplicitNull<String>? = nil
    ) {
        self.displayName = displayName
        self.metadata = metadata
        self.avatar = avatar
    }

    private enum CodingKeys: String, CodingKey {
        case displayName = "display_name"
        case metadata
        case avatar
    }
}

/// A pin on a participant.
public struct PinResource: Codable, Sendable, Hashable {
    /// Whether a participant set it for its own view, and not an operator.
    public var isLocal: Bool
    /// `SHARE_AND_CAM`, `CAM` or `SHARE`.
    public var pinType: WireEnum<PinType>
    /// The time of the pin.
    public var pinnedAt: Timestamp

    /// Makes a pin.
    public init(isLocal: Bool, pinType: WireEnum<PinType>, pinnedAt: Timestamp) {
        self.isLocal = isLocal
        self.pinType = pinType
        self.pinnedAt = pinnedAt
    }

    private enum CodingKeys: String, CodingKey {
        case isLocal = "is_local"
        case pinType = "pin_type"
        case pinnedAt = "pinned_at"
    }
}

/// The body of `PUT /v1/rooms/{room}/participants/{participant}/pin`.
public struct PinBody: Codable, Sendable, Hashable {
    /// `SHARE_AND_CAM`, `CAM` or `SHARE`; `SHARE_AND_CAM` when omitted.
    public var pinType: WireEnum<PinType>?

    /// Makes a body; what is left out is nil.
    public init(pinType: WireEnum<PinType>? = nil) {
        self.pinType = pinType
    }

    private enum CodingKeys: String, CodingKey {
        case pinType = "pin_type"
    }
}

/// The body of `POST /v1/rooms/{room}/participants/{participant}/mode`.
public struct ModeBody: Codable, Sendable, Hashable {
    /// The new mode.
    public var mode: WireEnum<ParticipantMode>

    /// Makes a body.
    public init(mode: WireEnum<ParticipantMode>) {
        self.mode = mode
    }
}

/// The response to a change of mode.
public struct ModeAnswer: Codable, Sendable, Hashable {
    /// The participant after the change.
    public var participant: ParticipantResource
    /// The ingest addresses; null unless a new host.
    @ExplicitNull public var ingest: IngestResource?

    /// Makes an answer.
    public init(participant: ParticipantResource, ingest: IngestResource?) {
        self.participant = participant
        self.ingest = ingest
    }
}
