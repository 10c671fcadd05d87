public import FootlightModel
public import Foundation

/// An event to be sent to the subscribed endpoints.
public struct WebhookEvent: Sendable {
    /// A room, by sid and unique name.
    public struct Room: Sendable, Hashable {
        /// The room's sid.
        public var sid: String
        /// The room's unique name.
        public var name: String

        /// Creates a room reference.
        public init(sid: String, name: String) {
            self.sid = sid
            self.name = name
        }
    }

    /// The event type.
    public var type: WebhookEventType
    /// The room; nil for events without one.
    public var room: Room?
    /// Seconds since 1970.
    public var at: Double
    /// A checkpoint in the source of the events, stored in the same transaction as the event.
    public var mark: (name: String, value: Int64)?
    /// Returns the resource as JSON; called at most once, on a thread for blocking work, and only if there are
    /// recipients.
    public var data: @Sendable () throws -> Data

    /// Creates an event.
    public init(
        _ type: WebhookEventType,
        room: Room? = nil,
        at: Double,
        mark: (name: String, value: Int64)? = nil,
        data: @escaping @Sendable () throws -> Data
    ) {
        self.type = type
        self.room = room
        self.at = at
        self.mark = mark
        self.data = data
    }
}

/// Selects the events that an endpoint receives.
public struct EventFilter: Sendable, Hashable {
    /// Event types, or prefixes such as `room.*`; empty for all.
    public var types: [WireEnum<WebhookEventPattern>]
    /// The room's unique name or sid; nil for all rooms.
    ///
    /// Events without a room always match.
    public var room: String?
    /// The name of the show whose rooms' events are selected, and no others; nil for the events of the gateway.
    public var show: String?

    /// Creates a filter.
    public init(types: [WireEnum<WebhookEventPattern>] = [], room: String? = nil, show: String? = nil) {
        self.types = types
        self.room = room
        self.show = show
    }

    /// Whether an event matches.
    public func passes(_ event: WebhookEvent) -> Bool {
        // All rooms of a show have its name.
        if let show, event.room?.name != show { return false }
        if let room, let origin = event.room, origin.name != room, origin.sid != room { return false }
        return selects(event.type)
    }

    /// Whether events of a type match, of some room at least.
    func selects(_ type: WebhookEventType) -> Bool {
        types.isEmpty || types.contains { $0.value?.matches(type) ?? false }
    }
}
