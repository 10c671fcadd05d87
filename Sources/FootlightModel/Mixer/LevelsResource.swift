/// The current audio levels of a room: an event of `GET /v1/rooms/{room}/levels`.
public struct LevelsResource: Codable, Sendable, Hashable {
    /// The hosts with an active microphone.
    public var hosts: [HostLevelResource]
    /// The program; absent if unknown.
    public var program: ProgramLevelResource?

    /// Creates levels.
    public init(hosts: [HostLevelResource], program: ProgramLevelResource? = nil) {
        self.hosts = hosts
        self.program = program
    }
}

/// The current audio level of a host.
public struct HostLevelResource: Codable, Sendable, Hashable {
    /// The participant's sid.
    public var sid: String
    /// The RMS level of the last 100 ms in dBFS, without gain; -127 for silence.
    public var level: Double
    /// The peak sample of that time in dBFS.
    public var peak: Double
    /// The current gain of loudness normalization in decibels.
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

/// The current audio level of the program.
public struct ProgramLevelResource: Codable, Sendable, Hashable {
    /// The peak sample of the last 100 ms in dBFS, after the limiter; -127 for silence.
    public var peak: Double
    /// The maximum gain reduction of the limiter in that time in decibels, 0 or less.
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
