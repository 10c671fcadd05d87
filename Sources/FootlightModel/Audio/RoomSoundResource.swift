public import Stage

/// The audio mix settings of a room.
public struct RoomSoundResource: Codable, Sendable, Hashable {
    /// Whether loudness normalization is on.
    public var levelling: Bool
    /// The hosts whose speech ducks all others: `off`, `pinned`, `priority` or `both`.
    public var duck: WireEnum<RoomAudioSettings.Duck>
    /// The ducking gain in decibels, -30 to 0.
    public var duckDB: Double
    /// The jitter buffer target of all hosts in milliseconds, 60 to 2000; nil for the program's.
    public var jitterTarget: Int?

    /// Creates settings with the given defaults.
    public init(
        levelling: Bool = true,
        duck: WireEnum<RoomAudioSettings.Duck> = .known(.priority),
        duckDB: Double = -8,
        jitterTarget: Int? = nil
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

/// The body of `PUT /v1/rooms/{room}/sound`; omitted fields stay unchanged.
public struct RoomSoundBody: Codable, Sendable, Hashable {
    /// Whether loudness normalization is on.
    public var levelling: Bool?
    /// The hosts whose speech ducks all others: `off`, `pinned`, `priority` or `both`.
    public var duck: WireEnum<RoomAudioSettings.Duck>?
    /// The ducking gain in decibels, -30 to 0.
    public var duckDB: Double?
    /// The jitter buffer target of all hosts in milliseconds, 60 to 2000; null for the program's.
    public var jitterTarget: ExplicitNull<Int>?

    /// Creates a body; omitted fields are nil.
    public init(
        levelling: Bool? = nil,
        duck: WireEnum<RoomAudioSettings.Duck>? = nil,
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

/// The audio mix settings of one participant as a host.
public struct ParticipantSoundResource: Codable, Sendable, Hashable {
    /// Decibels, -60 to 12.
    public var gainDB: Double
    /// Whether the participant's speech ducks the others.
    public var priority: Bool
    /// Whether the participant is offered a mix-minus of the program.
    public var returnFeed: Bool
    /// The jitter buffer target of the host in milliseconds, 60 to 2000; nil for the room's.
    public var jitterTarget: Int?

    /// Creates settings with the given defaults.
    public init(gainDB: Double = 0, priority: Bool = false, returnFeed: Bool = false, jitterTarget: Int? = nil) {
        self.gainDB = gainDB
        self.priority = priority
        self.returnFeed = returnFeed
        self.jitterTarget = jitterTarget
    }

    private enum CodingKeys: String, CodingKey {
        case gainDB = "gain_db"
        case priority
        case returnFeed = "return_feed"
        case jitterTarget = "jitter_target"
    }
}

/// The body of `PUT /v1/rooms/{room}/participants/{participant}/sound`; omitted fields stay unchanged.
public struct ParticipantSoundBody: Codable, Sendable, Hashable {
    /// Decibels, -60 to 12.
    public var gainDB: Double?
    /// Whether the participant's speech ducks the others.
    public var priority: Bool?
    /// Whether the participant is offered a mix-minus of the program.
    public var returnFeed: Bool?
    /// The jitter buffer target of the host in milliseconds, 60 to 2000; null for the room's.
    public var jitterTarget: ExplicitNull<Int>?

    /// Creates a body; omitted fields are nil.
    public init(
        gainDB: Double? = nil,
        priority: Bool? = nil,
        returnFeed: Bool? = nil,
        jitterTarget: ExplicitNull<Int>? = nil
    ) {
        self.gainDB = gainDB
        self.priority = priority
        self.returnFeed = returnFeed
        self.jitterTarget = jitterTarget
    }

    private enum CodingKeys: String, CodingKey {
        case gainDB = "gain_db"
        case priority
        case returnFeed = "return_feed"
        case jitterTarget = "jitter_target"
    }
}

/// The A/V sync of a host's media, as the mixer measures it.
public struct SyncResource: Codable, Sendable, Hashable {
    /// The jitter buffer target in milliseconds.
    public var targetMS: Double
    /// The offset of the host's clock in milliseconds, later than at its first packet.
    public var offsetMS: Double
    /// The drift in parts per million by which the host's clock runs faster than the program's.
    public var driftPPM: Double
    /// The buffered media in milliseconds.
    public var bufferMS: Double
    /// Late video and audio frames.
    public var late: Int
    /// Repeated video frames.
    public var duplicated: Int
    /// Dropped video and audio frames.
    public var dropped: Int

    /// Creates a measurement.
    public init(
        targetMS: Double = 300,
        offsetMS: Double,
        driftPPM: Double,
        bufferMS: Double,
        late: Int,
        duplicated: Int,
        dropped: Int
    ) {
        self.targetMS = targetMS
        self.offsetMS = offsetMS
        self.driftPPM = driftPPM
        self.bufferMS = bufferMS
        self.late = late
        self.duplicated = duplicated
        self.dropped = dropped
    }

    private enum CodingKeys: String, CodingKey {
        case targetMS = "target_ms"
        case offsetMS = "offset_ms"
        case driftPPM = "drift_ppm"
        case bufferMS = "buffer_ms"
        case late
        case duplicated
        case dropped
    }
}
