/// What a request for playback says of the player behind it, as it came; nil where it says nothing.
public struct PlayerRequest: Sendable, Equatable {
    /// What the token of the request allows its bearer to be.
    public enum Role: String, Sendable, Equatable {
        case viewer
        /// Another server that passes the program on.
        case relay
        /// A tool that looks whether the program is well.
        case monitor
        /// Something that makes still pictures.
        case thumbnail
    }

    /// The session id in the query, `sid`.
    public var sid: String?
    /// The query item `CMCD` (CTA-5004), percent-encoded or not.
    public var cmcd: String?
    /// The header field `CMCD-Session`.
    public var cmcdSession: String?
    /// The header field `CMCD-Status`.
    public var cmcdStatus: String?
    /// The header field `X-Playback-Session-Id`.
    public var playbackSessionID: String?
    /// The header field `User-Agent`, or what the player calls itself.
    public var userAgent: String?
    /// The header field `Sec-Purpose`, or `Purpose`.
    public var purpose: String?
    /// Country, or country and region, as a proxy that is trusted says: `DE`, `US-CA`.
    public var region: String?
    /// The player's numeric address without a port; never kept.
    public var address: String?
    /// A random id that the player keeps over sessions with its user's consent, `did`.
    public var device: String?
    /// Whose token it is.
    public var identity: String?
    /// What the token allows.
    public var role: Role
    /// Only the head of the answer is wanted.
    public var isHead: Bool
    /// Its address is that of a server that stands for many, and does not say for whom it asks.
    public var isOfMany = false
    /// What the same player asks for media is seen by whoever saw this request: no cache in front may answer it.
    public var isMediaSeen = false
    /// No server in front passed it on, as far as it says.
    public var isDirect = false
    /// A log of a server in front of us tells of it.
    public var isLogged = false
    /// It takes answers in gzip (RFC 9110 12.5.3).
    public var readsGzip = false

    /// A request of which this much is known.
    public init(
        sid: String? = nil,
        userAgent: String? = nil,
        address: String? = nil,
        identity: String? = nil,
        role: Role = .viewer,
        isHead: Bool = false
    ) {
        self.sid = sid
        self.userAgent = userAgent
        self.address = address
        self.identity = identity
        self.role = role
        self.isHead = isHead
    }
}
