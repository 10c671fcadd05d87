/// Which events an endpoint is told of.
public struct EventFilter: Sendable, Hashable {
    /// Names of events, or beginnings of names with `*` behind the point, such as `room.*`; empty for all.
    public var types: [String]
    /// The room's unique name or sid; nil for all.
    ///
    /// What belongs to no room is told whatever the room.
    public var room: String?

    /// Makes a filter.
    public init(types: [String] = [], room: String? = nil) {
        self.types = types
        self.room = room
    }

    /// Whether an event passes.
    public func passes(_ event: WebhookEvent) -> Bool {
        if let room, let origin = event.room, origin.name != room, origin.sid != room { return false }
        return types.isEmpty || types.contains { Self.matches($0, event.type) }
    }

    /// Whether `pattern` is, or stands for, one of the known names.
    public static func isKnown(_ pattern: String, among names: some Sequence<String>) -> Bool {
        names.contains { matches(pattern, $0) }
    }

    private static func matches(_ pattern: String, _ type: String) -> Bool {
        guard pattern.hasSuffix(".*") else { return pattern == type }
        return type.hasPrefix(pattern.dropLast())
    }
}
