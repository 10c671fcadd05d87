/// The body of `POST /v1/rooms/{room}`.
public struct UpdateRoomBody: Codable, Sendable, Hashable {
    /// `completed` ends the room.
    public var status: String

    /// Makes a body.
    public init(status: String) {
        self.status = status
    }

    private enum CodingKeys: String, CodingKey {
        case status
    }
}
