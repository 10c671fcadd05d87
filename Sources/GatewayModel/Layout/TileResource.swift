/// One place of the program's picture.
public struct TileResource: Codable, Sendable, Hashable {
    /// Index in row-major order.
    public var position: Int
    /// Whose tile it is.
    public var participantSID: String
    /// `camera`, `screen` or `placeholder`.
    public var source: String
    /// Pixels from the left, even.
    public var x: Int
    /// Pixels from the top, even.
    public var y: Int
    /// Pixels, even.
    public var width: Int
    /// Pixels, even.
    public var height: Int
    /// `fill` or `fit`.
    public var scaleMode: String
    /// The host's display name.
    public var label: String
    /// The microphone is heard.
    public var micOn: Bool
    /// What stands for the host while the camera is off, `asset:NAME` or a URL; null without one.
    @ExplicitNull public var avatar: String?
    /// It is one of the small tiles beside a large one.
    public var inStrip: Bool

    /// Makes a tile.
    public init(
        position: Int,
        participantSID: String,
        source: String,
        x: Int,
        y: Int,
        width: Int,
        height: Int,
        scaleMode: String,
        label: String,
        micOn: Bool,
        avatar: String? = nil,
        inStrip: Bool = false
    ) {
        self.position = position
        self.participantSID = participantSID
        self.source = source
        self.x = x
        self.y = y
        self.width = width
        self.height = height
        self.scaleMode = scaleMode
        self.label = label
        self.micOn = micOn
        self.avatar = avatar
        self.inStrip = inStrip
    }

    private enum CodingKeys: String, CodingKey {
        case position
        case participantSID = "participant_sid"
        case source
        case x
        case y
        case width
        case height
        case scaleMode = "scale_mode"
        case label
        case micOn = "mic_on"
        case avatar
        case inStrip = "in_strip"
    }
}
