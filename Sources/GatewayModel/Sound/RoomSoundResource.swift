/// How the sound of a room's hosts is mixed.
public struct RoomSoundResource: Codable, Sendable, Hashable {
    /// Every host is slowly brought to the same loudness.
    public var levelling: Bool
    /// Under whose speech all others are turned down: `off`, `pinned`, `priority` or `both`.
    public var duck: String
    /// How far they are turned down, in decibels, -30 to 0.
    public var duckDB: Double

    /// Makes settings; the usual ones unless said.
    public init(levelling: Bool = true, duck: String = "off", duckDB: Double = -8) {
        self.levelling = levelling
        self.duck = duck
        self.duckDB = duckDB
    }

    private enum CodingKeys: String, CodingKey {
        case levelling
        case duck
        case duckDB = "duck_db"
    }
}
