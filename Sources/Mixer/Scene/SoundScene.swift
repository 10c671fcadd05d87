/// How the sound of a scene's audible hosts is mixed.
public struct SoundScene: Sendable, Hashable, Codable {
    /// The gain in decibels with which a host is not heard at all.
    static let silentGain = -60.0

    /// Decibels by participant sid, -60 (silence) to 12; who is not named has 0.
    public var gains: [String: Double]
    /// Every host is slowly brought to the same loudness.
    public var isLevelling: Bool
    /// The sids of those under whose speech all others are turned down.
    public var duckUnder: Set<String>
    /// How far the others are turned down, in decibels, -30 to 0.
    public var duckDepth: Double
    /// The sids of those who want everything but themselves as a feed of their own.
    public var returns: Set<String>

    /// A mix; without arguments the usual one.
    public init(
        gains: [String: Double] = [:],
        isLevelling: Bool = true,
        duckUnder: Set<String> = [],
        duckDepth: Double = -8,
        returns: Set<String> = []
    ) {
        self.gains = gains
        self.isLevelling = isLevelling
        self.duckUnder = duckUnder
        self.duckDepth = duckDepth
        self.returns = returns
    }
}
