/// The mix settings of a scene's audible hosts.
public struct AudioScene: Sendable, Hashable, Codable {
    /// The gain in decibels at which a host is muted.
    static let silentGain = -60.0

    /// Decibels by participant sid, -60 (silence) to 12; the default is 0.
    public var gains: [String: Double]
    /// Whether loudness normalization brings every host slowly to the same loudness.
    public var isLevelling: Bool
    /// The sids of the hosts whose speech ducks all others.
    public var duckUnder: Set<String>
    /// The gain of ducked hosts in decibels, -30 to 0.
    public var duckDepth: Double
    /// The sids of the hosts that get a mix-minus feed.
    public var returns: Set<String>

    /// Makes mix settings; without arguments the defaults.
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
