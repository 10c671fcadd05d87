public import Stage

/// Which screen shows a call that may ring.
public enum CallScreen: Sendable, Equatable {
    /// The app's own, without a call.
    case host
    /// Before joining.
    case lobby(LobbyInfo)
    /// Somebody calls.
    case incoming(CallInvitation)
    /// Calling somebody.
    case outgoing
    /// On the way in.
    case joining
    /// In the call, alone.
    case waiting
    /// In the call, with others.
    case call
    /// In the call, with others, beside something else.
    case minimized
    /// In the call, while the connection is won back.
    case reconnecting

    /// Reads the screen.
    ///
    /// - Parameters:
    ///   - state: Where the call stands.
    ///   - isEmpty: There is nobody to be shown.
    ///   - isMinimized: The user made the call small.
    public init(_ state: CallingState, isEmpty: Bool, isMinimized: Bool) {
        self =
            switch state {
            case .idle: .host
            case .lobby(let info): .lobby(info)
            case .incoming(let invitation): .incoming(invitation)
            case .outgoing: .outgoing
            case .joining: .joining
            case .inCall where isEmpty: .waiting
            case .inCall: isMinimized ? .minimized : .call
            case .reconnecting: .reconnecting
            }
    }
}
