/// One place of the program's picture, and what is shown there.
public struct Tile: Sendable, Hashable, Codable {
    /// What fills a tile.
    public enum Source: String, Sendable, Hashable, Codable {
        case camera
        case screen
        case placeholder
    }

    /// How a picture is fitted into its tile.
    public enum ScaleMode: String, Sendable, Hashable, Codable {
        /// The tile is covered; what juts out is cropped.
        case fill
        /// The whole picture is seen; what is left of the tile stays black.
        case fit
    }

    /// Index in row-major order; the large tile, where there is one, is the first.
    public var position: Int
    /// Whose tile it is.
    public var participantSID: String
    /// What is shown.
    public var source: Source
    /// Where it lies on the canvas.
    public var rectangle: TileRectangle
    /// How the picture is fitted.
    public var scaleMode: ScaleMode
    /// The host's display name.
    public var label: String
    /// Whether the host's microphone is heard.
    public var isMicOn: Bool
    /// The picture that stands for the host while the camera is off: an asset's id; nil without one.
    public var avatar: String?
    /// It is one of the small tiles beside a large one.
    public var isInStrip: Bool

    /// Makes a tile.
    public init(
        position: Int,
        participantSID: String,
        source: Source,
        rectangle: TileRectangle,
        scaleMode: ScaleMode,
        label: String,
        isMicOn: Bool,
        avatar: String? = nil,
        isInStrip: Bool = false
    ) {
        self.position = position
        self.participantSID = participantSID
        self.source = source
        self.rectangle = rectangle
        self.scaleMode = scaleMode
        self.label = label
        self.isMicOn = isMicOn
        self.avatar = avatar
        self.isInStrip = isInStrip
    }
}
