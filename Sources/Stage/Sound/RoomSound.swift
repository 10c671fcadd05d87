/// How the sound of a room's hosts is mixed.
public struct RoomSound: Sendable, Hashable, Codable {
    /// Under whose speech all others are turned down.
    public enum Duck: String, Sendable, Hashable, Codable, CaseIterable {
        /// Nobody's.
        case off
        /// That of hosts who are pinned.
        case pinned
        /// That of hosts who have priority.
        case priority
        /// That of both.
        case both
    }

    /// Every host is slowly brought to the same loudness.
    public var isLevelling: Bool
    /// Under whose speech all others are turned down; at first that of who has priority, and nobody has it unasked.
    public var duck: Duck
    /// How far they are turned down, in decibels, -30 to 0.
    public var duckDepth: Double
    /// Milliseconds for which every host's media is held back to even out how it comes, 60 to 2000; nil is the program's.
    public var jitterTarget: Int?

    /// Makes settings; what is not named has its default.
    ///
    /// Nothing is checked before `validate(path:)`.
    public init(isLevelling: Bool = true, duck: Duck = .priority, duckDepth: Double = -8, jitterTarget: Int? = nil) {
        self.isLevelling = isLevelling
        self.duck = duck
        self.duckDepth = duckDepth
        self.jitterTarget = jitterTarget
    }

    /// Checks the depth and the target.
    ///
    /// - Parameter path: What stands before the field's name in the request, with its dot.
    /// - Throws: 3073 naming `duck_db` or `jitter_target`.
    public func validate(path: String = "sound.") throws(StageError) {
        try StageError.check(duckDepth, in: -30...0, field: "\(path)duck_db")
        if let jitterTarget { try StageError.check(jitterTarget, in: 60...2000, field: "\(path)jitter_target") }
    }
}

extension KeyedDecodingContainer {
    /// Chosen by synthesised code: records of rooms from before there was such a thing have the defaults.
    func decode(_ type: RoomSound.Type, forKey key: Key) throws -> RoomSound {
        try decodeIfPresent(type, forKey: key) ?? RoomSound()
    }
}
