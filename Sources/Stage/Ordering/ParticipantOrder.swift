/// What a participant's place in an order depends on, at one moment.
public struct ParticipantOrder: Sendable, Hashable {
    /// A pin on the participant.
    public struct Pin: Sendable, Hashable {
        /// Set by a viewer for its own view; a pin for everybody comes before it.
        public var isLocal: Bool
        /// When it was set, on any scale; of two the later one comes first.
        public var pinnedAt: Double

        /// Makes a pin; one for everybody by default.
        public init(isLocal: Bool = false, pinnedAt: Double) {
            self.isLocal = isLocal
            self.pinnedAt = pinnedAt
        }
    }

    /// Tells participants apart; the last thing that decides.
    public var id: String
    /// Nil without a pin.
    public var pin: Pin?
    /// A screen is seen.
    public var isScreenSharing: Bool
    /// Has the floor.
    public var isDominantSpeaker: Bool
    /// Speaks at this moment.
    public var isSpeaking: Bool
    /// A picture is seen.
    public var hasVideo: Bool
    /// A microphone is heard.
    public var hasAudio: Bool
    /// Is visible now where the order is applied.
    public var showTrack: Bool
    /// Names such as `admin`, `host` and `speaker`.
    public var roles: Set<String>

    /// Makes an order; what is not named is off.
    public init(
        id: String,
        pin: Pin? = nil,
        isScreenSharing: Bool = false,
        isDominantSpeaker: Bool = false,
        isSpeaking: Bool = false,
        hasVideo: Bool = false,
        hasAudio: Bool = false,
        showTrack: Bool = false,
        roles: Set<String> = []
    ) {
        self.id = id
        self.pin = pin
        self.isScreenSharing = isScreenSharing
        self.isDominantSpeaker = isDominantSpeaker
        self.isSpeaking = isSpeaking
        self.hasVideo = hasVideo
        self.hasAudio = hasAudio
        self.showTrack = showTrack
        self.roles = roles
    }
}

/// Something that a `ParticipantComparator` can put in order.
public protocol RankedParticipant {
    /// What the place depends on.
    var order: ParticipantOrder { get }
}

extension ParticipantOrder: RankedParticipant {
    /// Itself.
    public var order: ParticipantOrder { self }
}
