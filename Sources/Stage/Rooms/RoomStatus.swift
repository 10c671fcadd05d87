/// Whether a room can be joined.
public enum RoomStatus: String, Sendable, Hashable, Codable {
    case inProgress = "in-progress"
    case completed
}
