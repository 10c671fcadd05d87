import Stage

/// The source of a viewer's region, in ascending order of trust.
enum RegionSource: UInt8, Comparable {
    case unknown
    /// The configured country of the gateway.
    case configured
    /// The `RegionDatabase`.
    case database
    /// A trusted proxy, or a log.
    case declared

    static func < (left: RegionSource, right: RegionSource) -> Bool { left.rawValue < right.rawValue }
}

/// The known facts about a client before its session qualifies.
struct ClientIdentity {
    /// The viewer, beyond this session.
    var key: ViewerKey?
    /// The estimated viewer, as a hash of address and user agent.
    var estimate: UInt64?
    /// The `PeerAddress.account` whose session limits apply; nil for none.
    var account: UInt64?
    /// The `PeerAddress.account` whose media qualifies the session; nil when unknown.
    var receiver: UInt64?
    /// Country, or country and region; empty when unknown.
    var region = ""
    /// The source of `region`.
    var regionSource = RegionSource.unknown
    var client = ClientClass.unknown
    /// The reason why the client never counts.
    var exclusion: ExclusionReason?
}
