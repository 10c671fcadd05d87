/// How long a token is good for, as people write it: `90d`, `12h`, `30m` or `45s`.
public struct TokenLifetime: Sendable, Hashable {
    /// Ten years, which no token is to be good for longer than.
    public static let longest = 3650 * 86_400

    /// From 1 to `longest`.
    public let seconds: Int

    /// Reads a number and a unit; nil for anything else, and for what is too long.
    public init?(_ text: String) {
        guard let unit = text.last.flatMap({ Self.units[$0] }), let number = Int(text.dropLast()) else { return nil }
        let (seconds, isTooLarge) = number.multipliedReportingOverflow(by: unit)
        guard !isTooLarge else { return nil }
        self.init(seconds: seconds)
    }

    /// Takes seconds; nil for none, and for too many.
    public init?(seconds: Int) {
        guard (1...Self.longest).contains(seconds) else { return nil }
        self.seconds = seconds
    }

    private static let units: [Character: Int] = ["d": 86_400, "h": 3600, "m": 60, "s": 1]
}
