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

/// The reason why a playback request or session does not count.
public enum ExclusionReason: String, Sendable, Hashable, CaseIterable {
    /// A HEAD request.
    case head
    /// The token of a relay, a monitor or a thumbnail generator.
    case role
    /// A prefetch by a browser.
    case prefetch
    /// The user agent of a crawler or link previewer.
    case agent
    /// A session that ended before it qualified.
    case unqualified
    /// A session beyond the limit of a viewer or an address.
    case surplus
    /// A session that requested playlists but no media.
    case noMedia = "no_media"
}
