/// What a host name leads to, as far as it may be connected to.
public enum VettedHost: Sendable, Equatable {
    /// Addresses as numbers, each of which may be connected to.
    case addresses([String])
    /// At least one of its addresses is not for us to connect to.
    case forbidden
    /// It has no address, or nobody said in time.
    case notFound
}

/// Looks up a host, at most for so many seconds, and says whether it may be connected to.
public typealias EndpointVetting =
    @Sendable (_ host: String, _ port: UInt16, _ seconds: Double) async -> VettedHost
