/// The facts that a playback request states about its player; nil for what it does not state.
public struct PlayerRequest: Sendable, Equatable {
    /// The role that the token grants.
    public enum Role: String, Sendable, Equatable {
        case viewer
        /// Another server that redistributes the program.
        case relay
        /// A monitoring tool.
        case monitor
        /// A thumbnail generator.
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
    /// The header field `User-Agent`, or the RTMP client's own name.
    public var userAgent: String?
    /// The header field `Sec-Purpose`, or `Purpose`.
    public var purpose: String?
    /// Country, or country and region, as a trusted proxy reports it: `DE`, `US-CA`.
    public var region: String?
    /// The player's numeric address without a port; never stored.
    public var address: String?
    /// A random id that the player stores across sessions with its user's consent, `did`.
    public var device: String?
    /// The identity in the token.
    public var identity: String?
    /// The role that the token grants.
    public var role: Role
    /// Whether only the response head is requested.
    public var isHead: Bool
    /// Whether the address belongs to a proxy that does not report the client's address.
    public var isSharedAddress = false
    /// Whether the source of this request also sees the same player's media requests: no cache in front answers them.
    public var isMediaSeen = false
    /// Whether no proxy forwarded the request, as far as it states.
    public var isDirect = false
    /// Whether the access log of an upstream server reports the request.
    public var isLogged = false
    /// Whether the player accepts gzip responses (RFC 9110 section 12.5.3).
    public var acceptsGzip = false
    /// The ticket in the query, `ticket`.
    public var ticket: String?
    /// The passphrase in the query, `passphrase`.
    public var passphrase: String?
    /// Whether the player takes the place of another device with the same ticket, `take_over`.
    public var takesOver = false
    /// Whether the token is valid for the room.
    public var holdsToken = false
    /// What admits the player to a private room; set by the gateway after its check.
    public var grant: PlaybackGrant?

    /// Creates a request from known facts.
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

/// The session of a playback request.
public enum ViewerAdmission: Sendable, Equatable {
    /// A viewer's session; events are recorded under this id.
    case viewer(sid: String)
    /// A player that never counts; the id serves URLs that need one, and events may be recorded under it or not.
    case uncounted(sid: String)
    /// The presented id was not issued for this room.
    case refused
    /// The client has the maximum number of unverified sessions.
    case crowded
    /// The room is private, and the player has nothing that admits it.
    case denied(AccessRefusal)
}
