/// How a connection is won back.
public enum ReconnectWay: Sendable, Hashable {
    /// Opens the event stream where it broke off; what was missed is replayed.
    case resume
    /// Asks for the session anew and takes the room's whole state.
    case rejoin
}
