/// The overlays and the background of a scene.
public struct Decoration: Sendable, Hashable, Codable {
    /// Whether each tile shows its host's name.
    public var showsNames: Bool
    /// Whether each tile shows its host's microphone state.
    public var showsMicrophones: Bool
    /// The asset that fills the canvas behind the tiles; nil shows the background colour.
    public var background: String?
    /// An image over a corner of the canvas.
    public var logo: Logo?
    /// Two lines over the lower part of the canvas.
    public var lowerThird: LowerThird?
    /// Text that scrolls along the lower edge of the canvas.
    public var ticker: Ticker?

    /// Makes a decoration; without arguments names and microphones alone.
    public init(
        showsNames: Bool = true,
        showsMicrophones: Bool = true,
        background: String? = nil,
        logo: Logo? = nil,
        lowerThird: LowerThird? = nil,
        ticker: Ticker? = nil
    ) {
        self.showsNames = showsNames
        self.showsMicrophones = showsMicrophones
        self.background = background
        self.logo = logo
        self.lowerThird = lowerThird
        self.ticker = ticker
    }
}

/// An image over a corner of the canvas.
public struct Logo: Sendable, Hashable, Codable {
    /// The corner of the canvas.
    public enum Corner: String, Sendable, Hashable, CaseIterable, Codable {
        case topLeft
        case topRight
        case bottomLeft
        case bottomRight
    }

    /// The asset's id.
    public var asset: String
    /// The corner that the logo lies in.
    public var corner: Corner
    /// The opacity, 0 to 1.
    public var opacity: Double
    /// The height as a fraction of the canvas's, 0.02 to 0.5; the width keeps the image's aspect ratio.
    public var height: Double

    /// Makes a logo.
    public init(asset: String, corner: Corner = .topRight, opacity: Double = 1, height: Double = 0.1) {
        self.asset = asset
        self.corner = corner
        self.opacity = opacity
        self.height = height
    }
}

/// Two lines of text over the lower part of the canvas.
public struct LowerThird: Sendable, Hashable, Codable {
    /// The larger line.
    public var title: String
    /// The smaller line below it.
    public var subtitle: String?

    /// Makes a lower third.
    public init(title: String, subtitle: String? = nil) {
        self.title = title
        self.subtitle = subtitle
    }
}

/// Text that scrolls along the lower edge of the canvas in a loop.
public struct Ticker: Sendable, Hashable, Codable {
    /// The text, one line.
    public var text: String
    /// The speed in canvas widths per second.
    public var speed: Double

    /// Makes a ticker.
    public init(text: String, speed: Double = 0.1) {
        self.text = text
        self.speed = speed
    }
}
