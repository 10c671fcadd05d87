/// A host that a layout is tried with.
public struct PreviewHost: Codable, Sendable, Hashable {
    /// Whatever tells the host apart; `host-1`, `host-2` and so on when left out.
    public var sid: String?
    /// The name on the tile.
    public var label: String
    /// The camera is seen; true when left out.
    public var hasCamera: Bool?
    /// The microphone is heard; true when left out.
    public var hasMic: Bool?
    /// A screen is seen; false when left out.
    public var hasScreen: Bool?
    /// Has the word; false when left out.
    public var isDominantSpeaker: Bool?
    /// `SHARE_AND_CAM`, `CAM` or `SHARE`; not pinned when left out.
    public var pinType: String?
    /// What stands for the host while the camera is off, `asset:NAME` or a URL.
    public var avatar: String?

    /// Makes a host; what is left out is nil.
    public init(
        sid: String? = nil,
        label: String,
        hasCamera: Bool? = nil,
        hasMic: Bool? = nil,
        hasScreen: Bool? = nil,
        isDominantSpeaker: Bool? = nil,
        pinType: String? = nil,
        avatar: String? = nil
    ) {
        self.sid = sid
        self.label = label
        self.hasCamera = hasCamera
        self.hasMic = hasMic
        self.hasScreen = hasScreen
        self.isDominantSpeaker = isDominantSpeaker
        self.pinType = pinType
        self.avatar = avatar
    }

    private enum CodingKeys: String, CodingKey {
        case sid
        case label
        case hasCamera = "has_camera"
        case hasMic = "has_mic"
        case hasScreen = "has_screen"
        case isDominantSpeaker = "is_dominant_speaker"
        case pinType = "pin_type"
        case avatar
    }
}
