public import Stage

/// A room's current layout: settings and tiles.
///
/// The settings' fields are part of the same JSON object.
@dynamicMemberLookup
public struct LayoutResource: Codable, Sendable, Hashable {
    /// The layout settings.
    public var settings: LayoutSettingsResource
    /// Canvas width in pixels.
    public var width: Int
    /// Canvas height in pixels.
    public var height: Int
    /// In order of position.
    public var tiles: [TileResource]

    /// Makes a layout.
    public init(settings: LayoutSettingsResource, width: Int, height: Int, tiles: [TileResource]) {
        self.settings = settings
        self.width = width
        self.height = height
        self.tiles = tiles
    }

    /// Accesses a field of the settings.
    public subscript<Value>(dynamicMember field: KeyPath<LayoutSettingsResource, Value>) -> Value {
        settings[keyPath: field]
    }

    /// Decodes the settings and the other fields from one object.
    public init(from decoder: any Decoder) throws {
        settings = try LayoutSettingsResource(from: decoder)
        let values = try decoder.container(keyedBy: CodingKeys.self)
        width = try values.decode(Int.self, forKey: .width)
        height = try values.decode(Int.self, forKey: .height)
        tiles = try values.decode([TileResource].self, forKey: .tiles)
    }

    /// Encodes the settings and the other fields into one object.
    public func encode(to encoder: any Encoder) throws {
        try settings.encode(to: encoder)
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(width, forKey: .width)
        try values.encode(height, forKey: .height)
        try values.encode(tiles, forKey: .tiles)
    }

    private enum CodingKeys: String, CodingKey {
        case width
        case height
        case tiles
    }
}

/// The layout settings of a room.
public struct LayoutSettingsResource: Codable, Sendable, Hashable {
    /// `GRID`, `SPOTLIGHT` or `SIDEBAR`.
    public var type: WireEnum<LayoutSettings.Kind>
    /// The priority among hosts: `SPEAKER` or `PIN`.
    public var priority: WireEnum<LayoutSettings.Priority>
    /// The maximum number of tiles, 1 to 12.
    public var gridSize: Int
    /// The interval in seconds after which hidden hosts rotate in; absent without rotation.
    public var rotateEvery: Int?
    /// `landscape` or `portrait`.
    public var orientation: WireEnum<Orientation>
    /// `DARK`, `LIGHT` or `DEFAULT`.
    public var theme: WireEnum<LayoutSettings.Theme>
    /// The scale mode of cameras: `fill` or `fit`.
    public var scaleMode: WireEnum<Tile.ScaleMode>
    /// The scale mode of a camera in the large tile of `SIDEBAR`: `fill` or `fit`; absent from gateways of earlier
    /// versions, where it is `fit`.
    public var largeScaleMode: WireEnum<Tile.ScaleMode>?
    /// The maximum number of tiles in the strip of `SIDEBAR`, 1 to 12; absent from gateways of earlier versions.
    public var stripSize: Int?
    /// Whether a shared screen becomes the large tile.
    public var autoSwitchOnScreenShare: Bool
    /// The overlays on the tiles.
    public var overlays: OverlaysResource
    /// The duration of tile transitions in milliseconds.
    public var transitionMS: Int
    /// The background; null for the theme's colour.
    @ExplicitNull public var background: BackgroundResource?
    /// An image in a corner of the canvas; null without one.
    @ExplicitNull public var logo: LogoResource?
    /// A lower third; null without one.
    @ExplicitNull public var lowerThird: LowerThirdResource?
    /// A text that scrolls along the lower edge of the canvas; null without one.
    @ExplicitNull public var ticker: TickerResource?
    /// The slates.
    public var slates: SlatesResource

    /// Creates settings with the given defaults.
    public init(
        type: WireEnum<LayoutSettings.Kind>,
        priority: WireEnum<LayoutSettings.Priority> = .known(.speaker),
        gridSize: Int,
        orientation: WireEnum<Orientation>,
        theme: WireEnum<LayoutSettings.Theme> = .known(.standard),
        scaleMode: WireEnum<Tile.ScaleMode> = .known(.fill),
        autoSwitchOnScreenShare: Bool = true,
        overlays: OverlaysResource = OverlaysResource(name: true, mic: true),
        transitionMS: Int = 300,
        background: BackgroundResource? = nil,
        logo: LogoResource? = nil,
        lowerThird: LowerThirdResource? = nil,
        ticker: TickerResource? = nil,
        slates: SlatesResource = SlatesResource()
    ) {
        self.type = type
        self.priority = priority
        self.gridSize = gridSize
        self.orientation = orientation
        self.theme = theme
        self.scaleMode = scaleMode
        self.autoSwitchOnScreenShare = autoSwitchOnScreenShare
        self.overlays = overlays
        self.transitionMS = transitionMS
        self.background = background
        self.logo = logo
        self.lowerThird = lowerThird
        self.ticker = ticker
        self.slates = slates
    }

    private enum CodingKeys: String, CodingKey {
        case type
        case priority
        case gridSize = "grid_size"
        case rotateEvery = "rotate_every"
        case orientation
        case theme
        case scaleMode = "scale_mode"
        case largeScaleMode = "large_scale_mode"
        case stripSize = "strip_size"
        case autoSwitchOnScreenShare = "auto_switch_on_screen_share"
        case overlays
        case transitionMS = "transition_ms"
        case background
        case logo
        case lowerThird = "lower_third"
        case ticker
        case slates
    }
}

/// A tile of the program's video.
public struct TileResource: Codable, Sendable, Hashable {
    /// Index in row-major order.
    public var position: Int
    /// The sid of the tile's host.
    public var participantSID: String
    /// `camera`, `screen` or `placeholder`.
    public var source: WireEnum<Tile.Source>
    /// The left edge in pixels, even.
    public var x: Int
    /// The top edge in pixels, even.
    public var y: Int
    /// The width in pixels, even.
    public var width: Int
    /// The height in pixels, even.
    public var height: Int
    /// `fill` or `fit`.
    public var scaleMode: WireEnum<Tile.ScaleMode>
    /// The host's display name.
    public var label: String
    /// Whether the microphone is on.
    public var micOn: Bool
    /// The image shown while the camera is off, `asset:NAME` or a URL; null without one.
    @ExplicitNull public var avatar: String?
    /// Whether the tile is one of the small ones beside a large one.
    public var inStrip: Bool

    /// Makes a tile.
    public init(
        position: Int,
        participantSID: String,
        source: WireEnum<Tile.Source>,
        x: Int,
        y: Int,
        width: Int,
        height: Int,
        scaleMode: WireEnum<Tile.ScaleMode>,
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

/// The body of `PUT /v1/rooms/{room}/layout`; omitted fields stay unchanged.
public struct LayoutBody: Codable, Sendable, Hashable {
    /// `GRID`, `SPOTLIGHT` or `SIDEBAR`.
    public var type: WireEnum<LayoutSettings.Kind>?
    /// The priority among hosts: `SPEAKER` or `PIN`.
    public var priority: WireEnum<LayoutSettings.Priority>?
    /// The maximum number of tiles, 1 to 12.
    public var gridSize: Int?
    /// The interval in seconds after which hidden hosts rotate in, 3 to 300; 0 is never.
    public var rotateEvery: Int?
    /// `landscape` or `portrait`.
    public var orientation: WireEnum<Orientation>?
    /// `DARK`, `LIGHT` or `DEFAULT`.
    public var theme: WireEnum<LayoutSettings.Theme>?
    /// The scale mode of cameras: `fill` or `fit`.
    public var scaleMode: WireEnum<Tile.ScaleMode>?
    /// The scale mode of a camera in the large tile of `SIDEBAR`; that of `scaleMode` if only this is given.
    public var largeScaleMode: WireEnum<Tile.ScaleMode>?
    /// The maximum number of tiles in the strip of `SIDEBAR`, 1 to 12.
    public var stripSize: Int?
    /// Whether a shared screen becomes the large tile.
    public var autoSwitchOnScreenShare: Bool?
    /// The overlays on the tiles.
    public var overlays: OverlaysBody?
    /// The duration of tile transitions in milliseconds, 0 to 2000; null resets it to 300.
    public var transitionMS: ExplicitNull<Int>?
    /// The background; null resets it to the theme's colour.
    public var background: ExplicitNull<BackgroundResource>?
    /// An image in a corner of the canvas; null removes it.
    public var logo: ExplicitNull<LogoResource>?
    /// A lower third; null removes it.
    public var lowerThird: ExplicitNull<LowerThirdResource>?
    /// A text that scrolls along the lower edge of the canvas; null removes it.
    public var ticker: ExplicitNull<TickerResource>?
    /// The slates; null resets them to the default ones.
    public var slates: ExplicitNull<SlatesBody>?

    /// Makes a body; what is left out is nil.
    public init(
        type: WireEnum<LayoutSettings.Kind>? = nil,
        priority: WireEnum<LayoutSettings.Priority>? = nil,
        gridSize: Int? = nil,
        rotateEvery: Int? = nil,
        orientation: WireEnum<Orientation>? = nil,
        theme: WireEnum<LayoutSettings.Theme>? = nil,
        scaleMode: WireEnum<Tile.ScaleMode>? = nil,
        largeScaleMode: WireEnum<Tile.ScaleMode>? = nil,
        stripSize: Int? = nil,
        autoSwitchOnScreenShare: Bool? = nil,
        overlays: OverlaysBody? = nil,
        transitionMS: ExplicitNull<Int>? = nil,
        background: ExplicitNull<BackgroundResource>? = nil,
        logo: ExplicitNull<LogoResource>? = nil,
        lowerThird: ExplicitNull<LowerThirdResource>? = nil,
        ticker: ExplicitNull<TickerResource>? = nil,
        slates: ExplicitNull<SlatesBody>? = nil
    ) {
        self.type = type
        self.priority = priority
        self.gridSize = gridSize
        self.rotateEvery = rotateEvery
        self.orientation = orientation
        self.theme = theme
        self.scaleMode = scaleMode
        self.largeScaleMode = largeScaleMode
        self.stripSize = stripSize
        self.autoSwitchOnScreenShare = autoSwitchOnScreenShare
        self.overlays = overlays
        self.transitionMS = transitionMS
        self.background = background
        self.logo = logo
        self.lowerThird = lowerThird
        self.ticker = ticker
        self.slates = slates
    }

    private enum CodingKeys: String, CodingKey {
        case type
        case priority
        case gridSize = "grid_size"
        case rotateEvery = "rotate_every"
        case orientation
        case theme
        case scaleMode = "scale_mode"
        case largeScaleMode = "large_scale_mode"
        case stripSize = "strip_size"
        case autoSwitchOnScreenShare = "auto_switch_on_screen_share"
        case overlays
        case transitionMS = "transition_ms"
        case background
        case logo
        case lowerThird = "lower_third"
        case ticker
        case slates
    }
}

/// The body of `POST /v1/rooms/{room}/layout/preview`: layout settings and the hosts of the preview.
public struct LayoutPreviewBody: Codable, Sendable, Hashable {
    /// The settings; omitted fields are as in the room.
    public var layout: LayoutBody?
    /// In join order; the hosts of the room when omitted.
    public var hosts: [PreviewHost]?

    /// Makes a body; what is left out is nil.
    public init(layout: LayoutBody? = nil, hosts: [PreviewHost]? = nil) {
        self.layout = layout
        self.hosts = hosts
    }
}

/// A host in a layout preview.
public struct PreviewHost: Codable, Sendable, Hashable {
    /// A unique id; `host-1`, `host-2` and so on when omitted.
    public var sid: String?
    /// The name on the tile.
    public var label: String
    /// Whether the camera is visible; true when omitted.
    public var hasCamera: Bool?
    /// Whether the microphone is on; true when omitted.
    public var hasMic: Bool?
    /// Whether a screen is visible; false when omitted.
    public var hasScreen: Bool?
    /// Whether the host is the dominant speaker; false when omitted.
    public var isDominantSpeaker: Bool?
    /// `SHARE_AND_CAM`, `CAM` or `SHARE`; not pinned when omitted.
    public var pinType: WireEnum<PinType>?
    /// The image shown while the camera is off, `asset:NAME` or a URL.
    public var avatar: String?

    /// Makes a host; what is left out is nil.
    public init(
        sid: String? = nil,
        label: String,
        hasCamera: Bool? = nil,
        hasMic: Bool? = nil,
        hasScreen: Bool? = nil,
        isDominantSpeaker: Bool? = nil,
        pinType: WireEnum<PinType>? = nil,
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

/// The body and the response of `PUT /v1/rooms/{room}/host_order`.
public struct HostOrderResource: Codable, Sendable, Hashable {
    /// Identities of hosts in their order on stage; hosts that are not named follow in their present order.
    public var identities: [String]

    /// Makes an order.
    public init(identities: [String]) {
        self.identities = identities
    }
}
