/// What is painted over and behind the tiles of a scene.
public struct Decoration: Sendable, Hashable, Codable {
    /// Each tile shows its host's name.
    public var showsNames: Bool
    /// Each tile shows whether its host's microphone is on.
    public var showsMicrophones: Bool
    /// The asset that fills the canvas behind the tiles; nil shows the background colour.
    public var background: String?
    /// A picture over a corner of the canvas.
    public var logo: Logo?
    /// Two lines over the lower part of the canvas.
    public var lowerThird: LowerThird?
    /// Text that runs along the lower edge of the canvas.
    public var ticker: Ticker?

    /// A decoration; without arguments names and microphones alone.
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
