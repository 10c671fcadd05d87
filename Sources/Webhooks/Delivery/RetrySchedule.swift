/// When a failed delivery is tried again, and when an endpoint is given up.
public struct RetrySchedule: Sendable, Hashable {
    /// Seconds to wait after the first failure in a row, the second, and so on; the last holds for all further ones.
    public var delays: [Double]
    /// How much longer or shorter a delay may be by chance, as a part of it.
    public var jitter: Double
    /// Seconds from a failure after which the news of another event brings the next try forward.
    public var probing: Double
    /// The longest wait that an endpoint can ask for; seconds.
    public var longestAsked: Double
    /// Tries of a message that an endpoint refuses for what it holds, before the next one gets its turn.
    public var triesOfContent: Int

    /// Five seconds, five minutes, half an hour, then 2, 5, 10, 14, 20 and 24 hours.
    public static let usualDelays: [Double] = [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400]

    /// Makes a schedule; what is not named has its default.
    public init(
        delays: [Double] = usualDelays,
        jitter: Double = 0.1,
        probing: Double = 300,
        longestAsked: Double = 86_400,
        triesOfContent: Int = 3
    ) {
        self.delays = delays
        self.jitter = jitter
        self.probing = probing
        self.longestAsked = longestAsked
        self.triesOfContent = triesOfContent
    }

    /// Seconds for which an endpoint may fail before it is turned off: the shortest time that all tries can take.
    public var patience: Double { (delays.reduce(0, +) * (1 - jitter)).rounded(.down) }

    /// Seconds to wait after a failure.
    ///
    /// - Parameters:
    ///   - failures: Failures in a row, the latest included.
    ///   - asked: What the endpoint asked for; it waits no shorter, and not much longer.
    ///   - chance: 0 to 1.
    func delay(after failures: Int, asked: Double?, chance: Double) -> Double {
        if let asked { return min(max(asked, 1), longestAsked) * (1 + jitter * chance) }
        guard let delay = failures <= delays.count ? delays[max(failures, 1) - 1] : delays.last else { return 1 }
        return delay * (1 - jitter + 2 * jitter * chance)
    }
}
