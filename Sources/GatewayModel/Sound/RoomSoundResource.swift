/// How the sound of a room's hosts is mixed.
public struct RoomSoundResource: Codable, Sendable, Hashable {
    /// Every host is slowly brought to the same loudness.
    public var levelling: Bool
    /// Under whose speech all others are turned down: `off`, `pinned`, `priority` or `both`.
    public var duck: String
    /// How far they are turned down, in decibels, -30 to 0.
    public var duckDB: Double
    /// Milliseconds for which every host's media is held back, 60 to 2000; nil takes the program's own.
    public var jitterTarget: Int?

    /// Makes settings; the usual ones unless said.
    public init(levelling: Bool = true, duck: String = "priority", duckDB: Double = -8, jitterTarget: Int? = nil) {
        self.levelling = levelling
        self.duck = duck
        self.duckDB = duckDB
        self.jitterTarget = jitterTarget
    }

    private enum CodingKeys: String, CodingKey {
        case levelling
        case duck
        case duckDB = "duck_db"
        case jitterTarget = "jitter_target"
    }
}
