/// Pictures per second as an exact fraction, so that 29.97 never drifts against the sound.
public struct FrameRate: Sendable, Hashable, Codable {
    /// Pictures in `denominator` seconds.
    public let numerator: Int
    /// Seconds that `numerator` pictures take.
    public let denominator: Int

    /// Makes a rate of `numerator` pictures in `denominator` seconds.
    public init(_ numerator: Int, per denominator: Int = 1) {
        self.numerator = numerator
        self.denominator = denominator
    }

    /// Reads `30`, `29.97` (30000/1001), `59.94`, `23.976` or `30000/1001`; nil for anything outside 1 to 60.
    public init?(_ text: String) {
        switch text {
        case "23.976", "23.98": self.init(24000, per: 1001)
        case "29.97": self.init(30000, per: 1001)
        case "59.94": self.init(60000, per: 1001)
        default:
            let parts = text.split(separator: "/", omittingEmptySubsequences: false).map { Int($0) }
            guard let first = parts.first, let numerator = first, parts.count <= 2 else { return nil }
            guard let denominator = parts.count == 2 ? parts[1] : 1, denominator > 0, numerator > 0,
                denominator <= Self.largestDenominator, numerator >= denominator, numerator <= 60 * denominator
            else { return nil }
            self.init(numerator, per: denominator)
        }
    }

    /// Reads a stored rate.
    ///
    /// - Throws: `DecodingError` for anything outside 1 to 60.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let numerator = try container.decode(Int.self, forKey: .numerator)
        let denominator = try container.decode(Int.self, forKey: .denominator)
        guard (1...Self.largestDenominator).contains(denominator), numerator >= denominator,
            numerator <= 60 * denominator
        else {
            throw DecodingError.dataCorruptedError(forKey: .numerator, in: container, debugDescription: "no frame rate")
        }
        self.init(numerator, per: denominator)
    }

    private enum CodingKeys: String, CodingKey {
        case numerator
        case denominator
    }

    /// No usual rate has a larger denominator, and the sample arithmetic stays far from overflow.
    private static let largestDenominator = 1001

    /// The rate as a number, for display and estimates.
    public var perSecond: Double { Double(numerator) / Double(denominator) }

    /// The 48 kHz sample at which picture `index` begins, rounded down from the exact fraction.
    public func sample(ofPicture index: Int64, sampleRate: Int64 = 48_000) -> Int64 {
        let (product, overflow) = index.multipliedReportingOverflow(by: sampleRate * Int64(denominator))
        precondition(!overflow, "a program of millions of years")
        return product / Int64(numerator)
    }
}
