/// A host as the layout needs to know it.
public struct LayoutHost: Sendable, Hashable {
    /// The participant's sid.
    public var sid: String
    /// The name on the tile.
    public var label: String
    /// The camera is seen.
    public var hasCamera: Bool
    /// A screen is seen.
    public var hasScreen: Bool
    /// The microphone is heard.
    public var isMicOn: Bool
    /// The picture that stands for the host while the camera is off: an asset's id; nil without one.
    public var avatar: String?
    /// Which of the host's pictures everybody's pin is about; nil without one.
    public var pin: PinType?
    /// When the pin was set, on any scale; the newest pin comes first.
    public var pinnedAt: Double
    /// Has the floor.
    public var isDominantSpeaker: Bool
    /// Rises with how lately the host had the floor; nil for one who never had it.
    public var speakingOrder: Int?

    /// Makes a host; what is not named is off.
    public init(
        sid: String,
        label: String,
        hasCamera: Bool = false,
        hasScreen: Bool = false,
        isMicOn: Bool = false,
        avatar: String? = nil,
        pin: PinType? = nil,
        pinnedAt: Double = 0,
        isDominantSpeaker: Bool = false,
        speakingOrder: Int? = nil
    ) {
        self.sid = sid
        self.label = label
        self.hasCamera = hasCamera
        self.hasScreen = hasScreen
        self.isMicOn = isMicOn
        self.avatar = avatar
        self.pin = pin
        self.pinnedAt = pinnedAt
        self.isDominantSpeaker = isDominantSpeaker
        self.speakingOrder = speakingOrder
    }

    /// What the tile shows: a screen takes the camera's place.
    public var source: Tile.Source {
        if hasScreen { return .screen }
        return hasCamera ? .camera : .placeholder
    }

    /// Whether there is a pin on something that is there: a pin on a screen waits until one is shared.
    var isPinned: Bool {
        switch pin {
        case nil: false
        case .screen: hasScreen
        case .camera, .screenAndCamera: true
        }
    }

    /// Whether a screen is shared, and the pin is about it.
    var isScreenPinned: Bool {
        hasScreen && (pin == .screen || pin == .screenAndCamera)
    }
}

extension LayoutHost: RankedParticipant {
    /// The host's place in an order of participants.
    public var order: ParticipantOrder {
        ParticipantOrder(
            id: sid,
            pin: isPinned ? ParticipantOrder.Pin(pinnedAt: pinnedAt) : nil,
            isScreenSharing: hasScreen,
            isDominantSpeaker: isDominantSpeaker,
            hasVideo: hasCamera || hasScreen,
            hasAudio: isMicOn
        )
    }
}
