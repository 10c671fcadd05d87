/// A participant.
public struct ParticipantResource: Codable, Sendable, Hashable {
    /// `PA…`.
    public var sid: String
    /// Who it is; unique in the room.
    public var identity: String
    /// The name on the tile.
    public var displayName: String
    /// `SEND_AND_RECV`, `RECV_ONLY` or `SIGNALLING_ONLY`.
    public var mode: String
    /// `connecting`, `connected`, `reconnecting` or `disconnected`.
    public var status: String
    /// The microphone is heard.
    public var isMicOn: Bool
    /// The camera is seen.
    public var isCameraOn: Bool
    /// The screen is seen.
    public var isScreenSharing: Bool
    /// The voice is loud enough to be speech.
    public var isSpeaking: Bool
    /// The one who has the word.
    public var isDominantSpeaker: Bool
    /// dBFS, -127 for silence; null without a microphone.
    @ExplicitNull public var audioLevel: Double?
    /// Held on stage; null unless pinned.
    @ExplicitNull public var pin: PinResource?
    /// The tile's index; null without a tile.
    @ExplicitNull public var position: Int?
    /// In the order mic, camera, screen.
    public var tracks: [TrackResource]
    /// Tracks that its encoder sends and that are dropped, for it has a session and did not publish them; left out without.
    public var discarded: [String]?
    /// What the clients want to know of each other.
    public var metadata: [String: AnyJSON]
    /// What stands for the participant while there is no picture, `asset:NAME` or a URL; null without one.
    @ExplicitNull public var avatar: String?
    /// How the participant is mixed as a host.
    public var sound: ParticipantSoundResource
    /// How the host's media keeps time, which no event tells; null while it is not known.
    @ExplicitNull public var sync: SyncResource?
    /// How the host's screen keeps time, where `sync` is of its camera; left out otherwise.
    public var screenSync: SyncResource?
    /// Until when nothing is taken of the host, whose media ended the mixer again and again; null unless it did.
    @ExplicitNull public var quarantinedUntil: Timestamp?
    /// When the participant joined.
    public var joinedAt: Timestamp
    /// Counts the changes of the participant.
    public var revision: UInt64

    /// Makes a participant; silent, not pinned and without metadata unless said.
    public init(
        sid: String,
        identity: String,
        displayName: String,
        mode: String,
        status: String,
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
