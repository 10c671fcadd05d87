/// How the telling of an endpoint goes; what of it must outlive a restart.
public struct EndpointHealth: Sendable, Hashable {
    /// Tries that failed since the last message that was taken.
    public var failures = 0
    /// When the first of them failed; seconds since 1970.
    public var failingSince: Double?
    /// When the last of them failed; seconds since 1970.
    public var failedAt: Double?
    /// Before this nothing is tried; seconds since 1970.
    public var nextTry: Double?
    /// The endpoint itself named the time of the next try.
    public var isAsked = false
    /// Deliveries given up because too many waited.
    public var dropped = 0

    /// Makes the health of an endpoint that has not been told anything.
    public init() {}
}
