public import Foundation

/// Something that happened, to be told to the endpoints that want to know of it.
public struct WebhookEvent: Sendable {
    /// A room, by both of its names.
    public struct Room: Sendable, Hashable {
        /// The room's sid.
        public var sid: String
        /// The room's unique name.
        public var name: String

        /// Names a room.
        public init(sid: String, name: String) {
            self.sid = sid
            self.name = name
        }
    }

    /// The kind of event, words with points between them.
    public var type: String
    /// Where it happened; nil for what belongs to no room.
    public var room: Room?
    /// Seconds since 1970.
    public var at: Double
    /// A place in some other history up to which everything has now been told; stored in the same transaction.
    public var mark: (name: String, value: Int64)?
    /// The resource it is about as JSON; called once, on a thread for blocking work, and only if somebody wants it.
    public var data: @Sendable () throws -> Data

    /// Describes an event.
    public init(
        _ type: String,
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
