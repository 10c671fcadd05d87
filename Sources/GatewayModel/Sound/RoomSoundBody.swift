/// The body of `PUT /v1/rooms/{room}/sound`; what is left out stays as it is.
public struct RoomSoundBody: Codable, Sendable, Hashable {
    /// Every host is slowly brought to the same loudness.
    public var levelling: Bool?
    /// Under whose speech all others are turned down: `off`, `pinned`, `priority` or `both`.
    public var duck: String?
    /// How far they are turned down, in decibels, -30 to 0.
    public var duckDB: Double?
    /// Milliseconds for which every host's media is held back, 60 to 2000; null takes the program's own.
    public var jitterTarget: ExplicitNull<Int>?

    /// Makes a body; what is left out is nil.
    public init(
        levelling: Bool? = nil,
        duck: String? = nil,
        duckDB: Double? = nil,
        jitterTarget: ExplicitNull<Int>? = nil
    ) {
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
