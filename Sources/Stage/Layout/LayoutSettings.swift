/// How a room's tiles are arranged, and what they look like.
public struct LayoutSettings: Sendable, Hashable, Codable {
    /// The arrangements there are.
    public enum Kind: String, Sendable, Hashable, Codable, CaseIterable {
        /// Tiles of one size, row by row; beside a large screen while one is shared.
        case grid = "GRID"
        /// Nobody but who matters most.
        case spotlight = "SPOTLIGHT"
        /// Who matters most large, the others in a strip below.
        case sidebar = "SIDEBAR"
    }

    /// Who matters most where not everybody can.
    public enum Priority: String, Sendable, Hashable, Codable, CaseIterable {
        /// Who has the floor, also before somebody who is pinned.
        case speaker = "SPEAKER"
        /// Who is pinned.
        case pin = "PIN"
    }

    /// The colours around the tiles.
    public enum Theme: String, Sendable, Hashable, Codable, CaseIterable {
        case dark = "DARK"
        case light = "LIGHT"
        case standard = "DEFAULT"
    }

    /// What is written on the tiles.
    public struct Overlays: Sendable, Hashable, Codable {
        /// The host's display name.
        public var name: Bool
        /// Whether the microphone is heard.
        public var mic: Bool

        /// Makes a choice; both by default.
        public init(name: Bool = true, mic: Bool = true) {
            self.name = name
            self.mic = mic
        }
    }

    /// The arrangement.
    public var kind: Kind
    /// Who matters most.
    public var priority: Priority
    /// Tiles at the same time, the large one included, 1 to 12; hosts beyond wait for a place.
    public var gridSize: Int
    /// Which way the tiles are arranged; nil follows the canvas.
    public var orientation: Orientation?
    /// The colours around the tiles.
    public var theme: Theme
    /// How cameras are fitted into their tiles; a screen is always seen whole.
    public var scaleMode: Tile.ScaleMode
    /// A screen that is shared becomes the large tile; otherwise it takes the place of its host's camera.
    public var autoSwitchOnScreenShare: Bool
    /// What is written on the tiles.
    public var overlays: Overlays

    /// Makes settings; what is not named has its default.
    ///
    /// Nothing is checked before `validate(path:)`.
    public init(
        kind: Kind = .grid,
        priority: Priority = .speaker,
        gridSize: Int = GridLayout.maximumTiles,
        orientation: Orientation? = nil,
        theme: Theme = .standard,
        scaleMode: Tile.ScaleMode = .fill,
        autoSwitchOnScreenShare: Bool = true,
        overlays: Overlays = .init()
    ) {
        self.kind = kind
        self.priority = priority
        self.gridSize = gridSize
        self.orientation = orientation
        self.theme = theme
        self.scaleMode = scaleMode
        self.autoSwitchOnScreenShare = autoSwitchOnScreenShare
        self.overlays = overlays
    }

    /// Checks the grid's size, the only value that its type does not already keep in range.
    ///
    /// - Parameter path: What stands before the field's name in the request, with its dot.
    /// - Throws: 3073 naming `grid_size`.
    public func validate(path: String = "layout.") throws(StageError) {
        try StageError.check(gridSize, in: 1...GridLayout.maximumTiles, field: "\(path)grid_size")
    }
}
