/// How loud the program is at this moment.
public struct ProgramLevelResource: Codable, Sendable, Hashable {
    /// The largest sample of the last tenth of a second in dBFS, as it goes out; -127 for silence.
    public var peak: Double
    /// Decibels by which the limiter turned it down at the most in that time, 0 or less.
    public var limiting: Double

    /// Makes a level.
    public init(peak: Double, limiting: Double) {
        self.peak = peak
        self.limiting = limiting
    }

    private enum CodingKeys: String, CodingKey {
        case peak
        case limiting = "limiting_db"
    }
}
