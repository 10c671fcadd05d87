public import Stage

/// Where a publisher stands.
public enum PublisherState: Sendable, Equatable {
    /// Not started.
    case idle
    /// The first connection is being made.
    case connecting
    /// Media goes out.
    case publishing
    /// The connection was lost, or never came; this is the try of that number, from 1, and what waits for it.
    case reconnecting(attempt: Int)
    /// It is over: as asked for when nil, or because of this.
    case ended(StageError?)
}
