/// A message of the gateway's log.
public struct SystemEventResource: Codable, Sendable, Hashable {
    /// When it was logged.
    public var at: Timestamp
    /// `notice`, `warning`, `error` or `critical`.
    public var level: String
    /// The part of the gateway that logged it.
    public var logger: String
    /// The message.
    public var message: String
    /// Its values by name; the room, where it is about one, as `room`.
    public var metadata: [String: String]

    /// Creates a description.
    public init(at: Timestamp, level: String, logger: String, message: String, metadata: [String: String]) {
        self.at = at
        self.level = level
        self.logger = logger
        self.message = message
        self.metadata = metadata
    }
}

/// The latest messages of the gateway's log.
public struct SystemEventList: Codable, Sendable, Hashable {
    /// The latest first.
    public var events: [SystemEventResource]

    /// Creates a list.
    public init(events: [SystemEventResource]) {
        self.events = events
    }
}

/// What somebody who helps an operator wants to know, without secrets.
public struct DiagnosticsResource: Codable, Sendable, Hashable {
    /// When it was put together.
    public var madeAt: Timestamp
    /// The answer of `GET /v1/system`.
    public var system: SystemResource
    /// The settings in effect, as `footlight check-config` prints them.
    public var settings: [String]
    /// The answer of `GET /v1/system/events`.
    public var events: [SystemEventResource]
    /// What is left out.
    public var notes: [String]

    /// Creates a description.
    public init(
        madeAt: Timestamp,
        system: SystemResource,
        settings: [String],
        events: [SystemEventResource],
        notes: [String]
    ) {
        self.madeAt = madeAt
        self.system = system
        self.settings = settings
        self.events = events
        self.notes = notes
    }

    private enum CodingKeys: String, CodingKey {
        case madeAt = "made_at"
        case system
        case settings
        case events
        case notes
    }
}
