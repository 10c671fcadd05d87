/// Who says where a viewer is; what a later one says counts for more.
enum RegionSource: UInt8, Comparable {
    case nobody
    /// The gateway's own country, where nothing else is known.
    case home
    /// The database of addresses.
    case database
    /// A proxy that is trusted, or a log.
    case told

    static func < (left: RegionSource, right: RegionSource) -> Bool { left.rawValue < right.rawValue }
}

/// What is known of a player before it is proven to watch.
struct Visitor {
    /// Who it is, beyond this session.
    var key: ViewerKey?
    /// Who it may be, by its address and name.
    var estimate: UInt64?
    /// Among whose sessions it is counted, a `PeerAddress.account`; nil for nobody's.
    var account: UInt64?
    /// By whose media it is proven, a `PeerAddress.account`; nil where nobody knows.
    var receiver: UInt64?
    /// Country, or country and region; empty where nobody knows.
    var region = ""
    /// Who says where it is.
    var regionSource = RegionSource.nobody
    var client = ClientClass.unknown
    /// Why it will never count.
    var exclusion: Exclusion?
}
