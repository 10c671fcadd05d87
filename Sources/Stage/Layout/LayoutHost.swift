/// A host as input of the layout.
public struct LayoutHost: Sendable, Hashable {
    /// The participant's sid.
    public var sid: String
    /// The name on the tile.
    public var label: String
    /// Whether the camera is visible.
    public var hasCamera: Bool
    /// Whether a screen is visible.
    public var hasScreen: Bool
    /// Whether the microphone is on.
    public var isMicOn: Bool
    /// The asset id of the image shown while the camera is off; nil without one.
    public var avatar: String?
    /// The type of the pin for all; nil without one.
    public var pin: PinType?
    /// The time of the pin, on any scale; the newest pin comes first.
    public var pinnedAt: Double
    /// Whether the host is the dominant speaker.
    public var isDominantSpeaker: Bool
    /// Increases with the time of the last turn as dominant speaker; nil for a host that never was.
    public var speakingOrder: Int?

    /// Creates a host; omitted values are off.
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

    /// The source of the tile: a screen replaces the camera.
    public var source: Tile.Source {
        if hasScreen { return .screen }
        return hasCamera ? .camera : .placeholder
    }

    /// Whether a pin applies now: a pin on a screen applies only while one is shared.
    var isPinned: Bool {
        switch pin {
        case nil: false
        case .screen: hasScreen
        case .camera, .screenAndCamera: true
        }
    }

    /// Whether a screen is shared and pinned.
    var isScreenPinned: Bool {
        hasScreen && (pin == .screen || pin == .screenAndCamera)
    }
}

extension LayoutHost: RankedParticipant {
    /// The host's sort key.
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
