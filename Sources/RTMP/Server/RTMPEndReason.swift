/// Why a publisher or viewer is no longer there.
public enum RTMPEndReason: Sendable, Equatable {
    /// The connection was closed from the other side, or broke.
    case closedByPeer
    /// The peer ended its stream in an orderly way.
    case deletedStream
    /// Nothing came in time, not even the answer to a ping.
    case timedOut
    /// A newer connection took its place.
    case replaced
    /// The peer broke the protocol, or a limit.
    case protocolViolation(String)
    /// The receiver would not take it any longer.
    case refused
    /// The server goes down.
    case shutdown
}
