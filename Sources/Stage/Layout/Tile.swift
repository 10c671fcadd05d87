/// A tile of the program's video.
public struct Tile: Sendable, Hashable, Codable {
    /// The source of a tile's video.
    public enum Source: String, Sendable, Hashable, Codable {
        case camera
        case screen
        case placeholder
    }

    /// The fit of a frame in its tile.
    public enum ScaleMode: String, Sendable, Hashable, Codable, CaseIterable {
        /// The frame covers the tile and is cropped.
        case fill
        /// The whole frame is visible; the rest of the tile is black.
        case fit
    }

    /// Index in row-major order; the large tile, where there is one, is the first.
    public var position: Int
    /// The sid of the tile's host.
    public var participantSID: String
    /// The source of the video.
    public var source: Source
    /// The rectangle on the canvas.
    public var rectangle: TileRectangle
    /// The fit of the frame.
    public var scaleMode: ScaleMode
    /// The host's display name.
    public var label: String
    /// Whether the host's microphone is on.
    public var isMicOn: Bool
    /// The asset id of the image shown while the camera is off; nil without one.
    public var avatar: String?
    /// Whether the tile is one of the small ones beside a large one.
    public var isInStrip: Bool

    /// Creates a tile.
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

/// A room's layout at one moment: settings, canvas and tiles.
public struct LayoutView: Sendable, Hashable {
    /// The layout settings.
    public var settings: LayoutSettings
    /// Canvas width in pixels.
    public var width: Int
    /// Canvas height in pixels.
    public var height: Int
    /// In order of position.
    public var tiles: [Tile]

    /// The effective orientation.
    public var orientation: Orientation {
        settings.orientation ?? Orientation(width: width, height: height)
    }

    /// The effective maximum number of tiles in the strip of a sidebar.
    public var stripSize: Int {
        settings.stripSize ?? SidebarLayout.stripCapacity(width: width, height: height, orientation: orientation)
    }

    /// Creates a layout from its parts.
    public init(settings: LayoutSettings, width: Int, height: Int, tiles: [Tile]) {
        self.settings = settings
        self.width = width
        self.height = height
        self.tiles = tiles
    }
}
