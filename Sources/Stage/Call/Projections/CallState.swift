/// A call in the words of Daily's `CallState`.
public enum CallState: String, Sendable, Hashable, Codable, CaseIterable {
    case initialized
    case joining
    case joined
    case leaving
    case left

    /// Reads the state from a status; before the first attempt everything but a call is `initialized`.
    public init(_ status: CallStatus) {
        self =
            switch status.phase {
            case .idle: .initialized
            case .lobby, .incoming, .outgoing: status.wasAttempted ? .left : .initialized
            case .joining: .joining
            case .joined, .reconnecting: .joined
            case .leaving: .leaving
            case .left: .left
            }
    }
}
