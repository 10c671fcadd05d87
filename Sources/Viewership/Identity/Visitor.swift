/// What is known of a player before it is proven to watch.
struct Visitor {
    /// Who it is, beyond this session.
    var key: ViewerKey?
    /// Who it may be, by its address and name.
    var estimate: UInt64?
    /// Among whose sessions it is counted, a `PeerAddress.account`; nil for nobody's.
    var account: UInt64?
    /// Country, or country and region; empty where nobody knows.
    var region = ""
    var client = ClientClass.unknown
    /// Why it will never count.
    var exclusion: Exclusion?
}
