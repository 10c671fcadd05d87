/// The layout of a room's tiles, and their decoration.
public struct LayoutSettings: Sendable, Hashable, Codable {
    /// The layout types.
    public enum Kind: String, Sendable, Hashable, Codable, CaseIterable {
        /// Tiles of one size, row by row; beside a large screen while one is shared.
        case grid = "GRID"
        /// Only the host with the highest priority.
        case spotlight = "SPOTLIGHT"
        /// The host with the highest priority large, the others in a strip below.
        case sidebar = "SIDEBAR"
    }

    /// The priority among hosts.
    public enum Priority: String, Sendable, Hashable, Codable, CaseIterable {
        /// The dominant speaker before pinned hosts.
        case speaker = "SPEAKER"
        /// Pinned hosts first.
        case pin = "PIN"
    }

    /// The colours around the tiles.
    public enum Theme: String, Sendable, Hashable, Codable, CaseIterable {
        case dark = "DARK"
        case light = "LIGHT"
        case standard = "DEFAULT"
    }

    /// The overlays on the tiles.
    public struct Overlays: Sendable, Hashable, Codable {
        /// The host's display name.
        public var name: Bool
        /// Whether the microphone is on.
        public var mic: Bool

        /// Creates overlays; both by default.
        public init(name: Bool = true, mic: Bool = true) {
            self.name = name
            self.mic = mic
        }
    }

    /// The layout type.
    public var kind: Kind
    /// The priority among hosts.
    public var priority: Priority
    /// The maximum number of tiles, the large one included, 1 to 12; further hosts are hidden.
    public var gridSize: Int
    /// The orientation of the tiles; nil follows the canvas.
    public var orientation: Orientation?
    /// The colours around the tiles.
    public var theme: Theme
    /// The scale mode of cameras; a screen is never cropped.
    public var scaleMode: Tile.ScaleMode
    /// The scale mode of a camera in the large tile of a sidebar.
    ///
    /// Stored apart from `scaleMode`, and `fit` where it is missing: versions that had one mode for both always fitted
    /// the large tile, whatever they stored.
    public var largeScaleMode: Tile.ScaleMode
    /// The maximum number of tiles in the strip of a sidebar, 1 to 12; nil for as many as fit without being narrower
    /// than the canvas, which is four on one of 16:9.
    public var stripSize: Int?
    /// Whether a shared screen becomes the large tile; otherwise it replaces its host's camera.
    public var autoSwitchOnScreenShare: Bool
    /// The overlays on the tiles.
    public var overlays: Overlays
    /// The duration of tile transitions in milliseconds, 0 to 2000; 0 is a cut.
    public var transition: Int
    /// The interval in seconds after which hidden hosts rotate in, 3 to 300; 0 shows them only when they speak, are
    /// pinned or share a screen.
    public var rotation: Int = 0
    /// The background; nil for the theme's colour.
    public var background: Background?
    /// An image in a corner of the canvas.
    public var logo: Logo?
    /// A lower third.
    public var lowerThird: LowerThird?
    /// A text that scrolls along the lower edge of the canvas.
    public var ticker: Ticker?
    /// The slates.
    public var slates: Slates
    /// The `addresses` that an operator set: only these may be private addresses, where the gateway permits them.
    public var operatorAddresses: Set<String> = []

    /// The default duration of a transition, in milliseconds.
    public static let defaultTransition = 300

    /// Creates settings; omitted values have their defaults.
    ///
    /// Values are validated by `validate(path:)` only.
    public init(
        kind: Kind = .grid,
        priority: Priority = .speaker,
        gridSize: Int = GridLayout.maximumTiles,
        orientation: Orientation? = nil,
        theme: Theme = .standard,
        scaleMode: Tile.ScaleMode = .fill,
        largeScaleMode: Tile.ScaleMode = .fit,
        stripSize: Int? = nil,
        autoSwitchOnScreenShare: Bool = true,
        overlays: Overlays = .init(),
        transition: Int = defaultTransition,
        background: Background? = nil,
        logo: Logo? = nil,
        lowerThird: LowerThird? = nil,
        ticker: Ticker? = nil,
        slates: Slates = .init()
    ) {
        self.kind = kind
        self.priority = priority
        self.gridSize = gridSize
        self.orientation = orientation
        self.theme = theme
        self.scaleMode = scaleMode
        self.largeScaleMode = largeScaleMode
        self.stripSize = stripSize
        self.autoSwitchOnScreenShare = autoSwitchOnScreenShare
        self.overlays = overlays
        self.transition = transition
        self.background = background
        self.logo = logo
        self.lowerThird = lowerThird
        self.ticker = ticker
        self.slates = slates
    }

    /// Decodes stored settings; values that older versions did not store have their defaults.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        kind = try values.decode(Kind.self, forKey: .kind)
        priority = try values.decode(Priority.self, forKey: .priority)
        gridSize = try values.decode(Int.self, forKey: .gridSize)
        orientation = try values.decodeIfPresent(Orientation.self, forKey: .orientation)
        theme = try values.decode(Theme.self, forKey: .theme)
        scaleMode = try values.decode(Tile.ScaleMode.self, forKey: .scaleMode)
        largeScaleMode = try values.decodeIfPresent(Tile.ScaleMode.self, forKey: .largeScaleMode) ?? .fit
        stripSize = try values.decodeIfPresent(Int.self, forKey: .stripSize)
        autoSwitchOnScreenShare = try values.decode(Bool.self, forKey: .autoSwitchOnScreenShare)
        overlays = try values.decode(Overlays.self, forKey: .overlays)
        transition = try values.decodeIfPresent(Int.self, forKey: .transition) ?? Self.defaultTransition
        rotation = try values.decodeIfPresent(Int.self, forKey: .rotation) ?? 0
        background = try values.decodeIfPresent(Background.self, forKey: .background)
        logo = try values.decodeIfPresent(Logo.self, forKey: .logo)
        lowerThird = try values.decodeIfPresent(LowerThird.self, forKey: .lowerThird)
        ticker = try values.decodeIfPresent(Ticker.self, forKey: .ticker)
        slates = try values.decodeIfPresent(Slates.self, forKey: .slates) ?? Slates()
        operatorAddresses = try values.decodeIfPresent(Set<String>.self, forKey: .operatorAddresses) ?? []
    }
}

/// The decoration beside the tiles.
extension LayoutSettings {
    /// The URLs of images and music.
    public var addresses: Set<String> {
        var references = [logo?.image]
        if case .image(let image) = background { references.append(image) }
        for slate in [slates.startingSoon, slates.beRightBack, slates.ended] {
            references += [slate?.image, slate?.music]
        }
        return Set(references.compactMap { $0 }.filter { $0.name == nil }.map(\.text))
    }

    /// The background of the tiles.
    public enum Background: Sendable, Hashable, Codable {
        /// A colour that replaces the theme's.
        case colour(Colour)
        /// An image that fills the canvas.
        case image(AssetReference)
    }

    /// A canvas colour with 8 bits each of red, green and blue.
    public struct Colour: Sendable, Hashable, Codable {
        /// 0 to 255.
        public var red: UInt8
        /// 0 to 255.
        public var green: UInt8
        /// 0 to 255.
        public var blue: UInt8

        /// Creates a colour.
        public init(red: UInt8, green: UInt8, blue: UInt8) {
            self.red = red
            self.green = green
            self.blue = blue
        }
    }

    /// An image in a corner of the canvas.
    public struct Logo: Sendable, Hashable, Codable {
        /// The corners, as the API names them.
        public enum Position: String, Sendable, Hashable, Codable, CaseIterable {
            case topLeft = "top_left"
            case topRight = "top_right"
            case bottomLeft = "bottom_left"
            case bottomRight = "bottom_right"
        }

        /// The image.
        public var image: AssetReference
        /// The corner.
        public var position: Position
        /// 0 (transparent) to 1 (opaque).
        public var opacity: Double
        /// The height relative to the canvas, 0.02 to 0.5; the width follows the image's aspect ratio.
        public var height: Double

        /// Creates a logo; omitted values have their defaults.
        public init(image: AssetReference, position: Position = .topRight, opacity: Double = 1, height: Double = 0.1) {
            self.image = image
            self.position = position
            self.opacity = opacity
            self.height = height
        }
    }

    /// A lower third with two lines of up to 500 characters each.
    public struct LowerThird: Sendable, Hashable, Codable {
        /// The larger line.
        public var title: String
        /// The smaller line below it.
        public var subtitle: String?

        /// Creates a lower third.
        public init(title: String, subtitle: String? = nil) {
            self.title = title
            self.subtitle = subtitle
        }
    }

    /// A text that scrolls along the lower edge of the canvas.
    public struct Ticker: Sendable, Hashable, Codable {
        /// One line, up to 2000 characters and 16000 bytes.
        public var text: String
        /// Canvas widths per second, 0.01 to 1.
        public var speed: Double

        /// Creates a ticker.
        public init(text: String, speed: Double = 0.1) {
            self.text = text
            self.speed = speed
        }
    }

    /// A full-screen card that the program shows without hosts.
    public struct Slate: Sendable, Hashable, Codable {
        /// The text, up to 500 characters; nil for the default text.
        public var text: String?
        /// The image that fills the canvas; nil for the background.
        public var image: AssetReference?
        /// The music; nil for silence.
        public var music: AssetReference?

        /// Creates a slate.
        public init(text: String? = nil, image: AssetReference? = nil, music: AssetReference? = nil) {
            self.text = text
            self.image = image
            self.music = music
        }
    }

    /// The slates by occasion; nil for the default slate.
    public struct Slates: Sendable, Hashable, Codable {
        /// Before the show.
        public var startingSoon: Slate?
        /// Backstage in the middle of a show, and while the room has no host.
        public var beRightBack: Slate?
        /// After the show.
        public var ended: Slate?

        /// Creates slates; the default ones if omitted.
        public init(startingSoon: Slate? = nil, beRightBack: Slate? = nil, ended: Slate? = nil) {
            self.startingSoon = startingSoon
            self.beRightBack = beRightBack
            self.ended = ended
        }
    }
}

extension LayoutSettings {
    /// The maximum length of a line of a lower third or a slate, in characters.
    public static let maximumTextLength = 500
    /// The maximum length of a ticker, in characters.
    public static let maximumTickerLength = 2000

    /// The maximum average of UTF-8 bytes per character of a text.
    static let bytesPerCharacter = 8

    /// Validates all values that their types do not restrict.
    ///
    /// - Parameter path: The prefix of the field's name in the request, with its dot.
    /// - Throws: 3073 naming the field.
    public func validate(path: String = "layout.") throws(StageError) {
        try StageError.check(gridSize, in: 1...GridLayout.maximumTiles, field: "\(path)grid_size")
        if let stripSize {
            try StageError.check(stripSize, in: 1...GridLayout.maximumTiles, field: "\(path)strip_size")
        }
        try StageError.check(transition, in: 0...2000, field: "\(path)transition_ms")
        guard rotation == 0 || (3...300).contains(rotation) else {
            throw .invalidParameter("\(path)rotate_every", "must be 0 or between 3 and 300")
        }
        if let logo {
            try StageError.check(logo.opacity, in: 0...1, field: "\(path)logo.opacity")
            try StageError.check(logo.height, in: 0.02...0.5, field: "\(path)logo.height")
        }
        if let lowerThird {
            try Self.check(lowerThird.title, field: "\(path)lower_third.title")
            try Self.check(lowerThird.subtitle, field: "\(path)lower_third.subtitle")
        }
        if let ticker {
            try Self.check(ticker.text, limit: Self.maximumTickerLength, field: "\(path)ticker.text")
            try StageError.check(ticker.speed, in: 0.01...1, field: "\(path)ticker.speed")
        }
        try Self.check(slates.startingSoon?.text, field: "\(path)slates.starting_soon.text")
        try Self.check(slates.beRightBack?.text, field: "\(path)slates.be_right_back.text")
        try Self.check(slates.ended?.text, field: "\(path)slates.ended.text")
    }

    private static func check(_ text: String?, limit: Int = maximumTextLength, field: String) throws(StageError) {
        guard let text else { return }
        guard text.count <= limit else {
            throw .invalidParameter(field, "must have at most \(limit) characters")
        }
        guard text.utf8.count <= limit * bytesPerCharacter else {
            throw .invalidParameter(field, "must have at most \(limit * bytesPerCharacter) bytes of UTF-8")
        }
    }
}
