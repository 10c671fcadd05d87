/// A call in the words of Twilio's `Room.State`.
public enum RoomState: String, Sendable, Hashable, Codable, CaseIterable {
    case connecting
    case connected
    case disconnected
    case reconnecting

    /// Reads the state from a status.
    public init(_ status: CallStatus) {
        self =
            switch status.phase {
            case .idle, .lobby, .incoming, .outgoing, .leaving, .left: .disconnected
            case .joining: .connecting
            case .joined: .connected
            case .reconnecting: .reconnecting
            }
    }
}
