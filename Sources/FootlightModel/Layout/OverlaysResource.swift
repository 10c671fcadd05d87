public import Stage

/// The overlays on the tiles.
public struct OverlaysResource: Codable, Sendable, Hashable {
    /// The host's display name.
    public var name: Bool
    /// Whether the microphone is on.
    public var mic: Bool

    /// Creates overlays.
    public init(name: Bool, mic: Bool) {
        self.name = name
        self.mic = mic
    }
}

/// The overlays on the tiles; omitted fields stay unchanged.
public struct OverlaysBody: Codable, Sendable, Hashable {
    /// The host's display name.
    public var name: Bool?
    /// Whether the microphone is on.
    public var mic: Bool?

    /// Makes a body; what is left out is nil.
    public init(name: Bool? = nil, mic: Bool? = nil) {
        self.name = name
        self.mic = mic
    }
}

/// The background of the tiles: a colour or an image.
public struct BackgroundResource: Codable, Sendable, Hashable {
    /// `#rrggbb`.
    public var colour: String?
    /// `asset:NAME`, or an `http://` or `https://` URL.
    public var image: String?

    /// Makes a background.
    public init(colour: String? = nil, image: String? = nil) {
        self.colour = colour
        self.image = image
    }
}

/// An image in a corner of the canvas.
public struct LogoResource: Codable, Sendable, Hashable {
    /// `asset:NAME`, or an `http://` or `https://` URL.
    public var image: String
    /// `top_left`, `top_right`, `bottom_left` or `bottom_right`; `top_right` when omitted.
    public var position: WireEnum<LayoutSettings.Logo.Position>?
    /// 0 (transparent) to 1 (opaque); 1 when omitted.
    public var opacity: Double?
    /// The height relative to the canvas, 0.02 to 0.5; 0.1 when omitted.
    public var height: Double?

    /// Makes a logo; what is left out is nil.
    public init(
        image: String,
        position: WireEnum<LayoutSettings.Logo.Position>? = nil,
        opacity: Double? = nil,
        height: Double? = nil
    ) {
        self.image = image
        self.position = position
        self.opacity = opacity
        self.height = height
    }
}

/// A lower third with two lines.
public struct LowerThirdResource: Codable, Sendable, Hashable {
    /// The larger line, up to 500 characters.
    public var title: String
    /// The smaller line, up to 500 characters.
    public var subtitle: String?

    /// Makes a lower third.
    public init(title: String, subtitle: String? = nil) {
        self.title = title
        self.subtitle = subtitle
    }
}

/// A text that scrolls along the lower edge of the canvas.
public struct TickerResource: Codable, Sendable, Hashable {
    /// One line, up to 2000 characters and 16000 bytes.
    public var text: String
    /// Canvas widths per second, 0.01 to 1; 0.1 when omitted.
    public var speed: Double?

    /// Makes a ticker.
    public init(text: String, speed: Double? = nil) {
        self.text = text
        self.speed = speed
    }
}

/// A full-screen card that the program shows without hosts.
public struct SlateResource: Codable, Sendable, Hashable {
    /// Up to 500 characters; the default text when omitted.
    public var text: String?
    /// The image that fills the canvas, `asset:NAME` or a URL; the background when omitted.
    public var image: String?
    /// The music, `asset:NAME` or a URL; silence when omitted.
    public var music: String?

    /// Makes a slate; what is left out is nil.
    public init(text: String? = nil, image: String? = nil, music: String? = nil) {
        self.text = text
        self.image = image
        self.music = music
    }
}

/// The slates by occasion; null for the default one.
public struct SlatesResource: Codable, Sendable, Hashable {
    /// Before the show.
    @ExplicitNull public var startingSoon: SlateResource?
    /// Backstage in the middle of a show, and while the room has no host.
    @ExplicitNull public var beRightBack: SlateResource?
    /// After the show.
    @ExplicitNull public var ended: SlateResource?

    /// Creates slates; the default ones if omitted.
    public init(startingSoon: SlateResource? = nil, beRightBack: SlateResource? = nil, ended: SlateResource? = nil) {
        self.startingSoon = startingSoon
        self.beRightBack = beRightBack
        self.ended = ended
    }

    private enum CodingKeys: String, CodingKey {
        case startingSoon = "starting_soon"
        case beRightBack = "be_right_back"
        case ended
    }
}

/// The slates by occasion; omitted ones stay unchanged, null resets to the default one.
public struct SlatesBody: Codable, Sendable, Hashable {
    /// Before the show.
    public var startingSoon: ExplicitNull<SlateResource>?
    /// Backstage in the middle of a show, and while the room has no host.
    public var beRightBack: ExplicitNull<SlateResource>?
    /// After the show.
    public var ended: ExplicitNull<SlateResource>?

    /// Makes a body; what is left out is nil.
    public init(
        startingSoon: ExplicitNull<SlateResource>? = nil,
        beRightBack: ExplicitNull<SlateResource>? = nil,
        ended: ExplicitNull<SlateResource>? = nil
    ) {
        self.startingSoon = startingSoon
        self.beRightBack = beRightBack
        self.ended = ended
    }

    private enum CodingKeys: String, CodingKey {
        case startingSoon = "starting_soon"
        case beRightBack = "be_right_back"
        case ended
    }
}
