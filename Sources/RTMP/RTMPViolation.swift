/// A peer broke the protocol or left the budget it was granted; the connection cannot go on.
public struct RTMPViolation: Error, Sendable, Equatable {
    /// What happened, for the log.
    public var reason: String

    init(_ reason: String) {
        self.reason = reason
    }
}
