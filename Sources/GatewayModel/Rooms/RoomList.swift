/// The answer of `GET /v1/rooms`.
public struct RoomList: Codable, Sendable, Hashable {
    /// By date of creation.
    public var rooms: [RoomResource]
    /// Where the list goes on.
    public var meta: PageResource

    /// Makes a list.
    public init(rooms: [RoomResource], meta: PageResource) {
        self.rooms = rooms
        self.meta = meta
    }

    private enum CodingKeys: String, CodingKey {
        case rooms
        case meta
    }
}
