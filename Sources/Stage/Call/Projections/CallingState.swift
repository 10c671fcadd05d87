/// A call in the words of Stream's `CallingState`.
public enum CallingState: Sendable, Equatable {
    case idle
    case lobby(LobbyInfo)
    case incoming(CallInvitation)
    case outgoing
    case joining
    case inCall
    case reconnecting

    /// Reads the state from a status; a call that is ending or has ended is `idle`, its error is in the status.
    public init(_ status: CallStatus) {
        self =
            switch status.phase {
            case .idle, .leaving, .left: .idle
            case .lobby(let info): .lobby(info)
            case .incoming(let invitation): .incoming(invitation)
            case .outgoing: .outgoing
            case .joining: .joining
            case .joined: .inCall
            case .reconnecting: .reconnecting
            }
    }
}
