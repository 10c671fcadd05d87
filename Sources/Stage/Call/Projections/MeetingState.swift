/// A call in the words of VideoSDK's `MeetingState`.
public enum MeetingState: String, Sendable, Hashable, Codable, CaseIterable {
    case connecting = "CONNECTING"
    case connected = "CONNECTED"
    case reconnecting = "RECONNECTING"
    case disconnected = "DISCONNECTED"
    case failed = "FAILED"

    /// Reads the state from a status; nil where VideoSDK has no meeting yet.
    public init?(_ status: CallStatus) {
        switch status.phase {
        case .idle, .lobby, .incoming, .outgoing: return nil
        case .joining: self = .connecting
        case .joined: self = .connected
        case .reconnecting: self = .reconnecting
        case .leaving, .left(nil): self = .disconnected
        case .left: self = .failed
        }
    }
}
