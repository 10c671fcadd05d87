/// How loud a host is at this moment.
public struct HostLevelResource: Codable, Sendable, Hashable {
    /// The participant.
    public var sid: String
    /// Root mean square of the last tenth of a second in dBFS, before any gain, -127 for silence.
    public var level: Double
    /// The largest sample of that time in dBFS.
    public var peak: Double
    /// Decibels by which levelling turns the host up at present, or down.
    public var levelling: Double

    /// Makes a level.
    public init(sid: String, level: Double, peak: Double, levelling: Double) {
        self.sid = sid
        self.level = level
        self.peak = peak
        self.levelling = levelling
    }

    private enum CodingKeys: String, CodingKey {
        case sid
        case level
        case peak
        case levelling = "levelling_db"
    }
}
