public import HTTPTypes
public import Stage

/// Defines which statements of clients and proxies are trusted, for all playback protocols.
public struct ClientTrustPolicy: Sendable {
    /// The proxies that are trusted to name the origin of a request.
    public var proxies: TrustedProxies
    /// Whether persistent device ids are used, which requires the users' consent.
    public var usesDeviceIDs: Bool
    /// Whether direct players get URIs with the session in their path, so that the media they request is attributed to
    /// them for certain.
    public var namesSessionsInPaths = false
    /// Verifies a token for a room; throws `ViewerTokenRefusal`.
    public var bearer: (@Sendable (_ token: String, _ room: String) async throws -> ViewerBearer)?

    /// Creates a policy that trusts nothing by default.
    public init(
        proxies: TrustedProxies = TrustedProxies(),
        usesDeviceIDs: Bool = false,
        namesSessionsInPaths: Bool = false,
        bearer: (@Sendable (_ token: String, _ room: String) async throws -> ViewerBearer)? = nil
    ) {
        self.proxies = proxies
        self.usesDeviceIDs = usesDeviceIDs
        self.namesSessionsInPaths = namesSessionsInPaths
        self.bearer = bearer
    }
}

extension ClientTrustPolicy {
    /// Returns the token of a request, if one applies: a new player's in its URL, or a CDN's in the header field that
    /// it adds to all requests.
    static func token(of head: HTTPRequest, query: QueryItems, for request: MediaRequest) -> String? {
        guard head.method != .options else { return nil }
        if request.beginsSession { return query["token"] }
        guard case .mediaPlaylist = request.target else { return nil }
        return head.headerFields[.relay]
    }
}

extension HTTPField.Name {
    // The name is a valid token, so the default is never used.
    fileprivate static let relay = Self("X-Footlight-Relay") ?? .via
}

extension ClientTrustPolicy {
    /// Returns a request with the header fields for the server behind: its client, and for requests of players also the
    /// origin, which only the connection reveals.
    ///
    /// - Parameters:
    ///   - peer: The numeric address of the connection; nil if unknown.
    ///   - client: The `PeerAddress.account` to charge; nil if there is no limit.
    ///   - mayLeave: Whether the request may be forwarded to another gateway, which needs the origin of every request.
    func forwarding(
        _ head: HTTPRequest,
        peer: String?,
        client: UInt64? = nil,
        mayLeave: Bool = false
    ) -> HTTPRequest {
        var head = head
        let origin = self.origin(of: head, peer: peer)
        if head.headerFields.contains(.clientOrigin) {
            head.headerFields[.forwardedProto] = origin.isSecure ? "https" : nil
        } else if peer.map({ proxies.mayReport(from: $0) }) != true {
            head.headerFields[.forwardedProto] = nil
        }
        head.headerFields[.client] = client.map { String($0) }
        if mayLeave { head.headerFields[.clientOrigin] = origin.text }
        guard Self.isOfPlayer(head.path ?? "") else { return head }
        head.headerFields[.playerAddress] = origin.address
        head.headerFields[.playerRegion] = origin.region
        head.headerFields[.playerIsShared] = origin.isShared ? "1" : nil
        return head
    }

    /// Returns the client of a request: as another gateway of the cluster states it, else as the connection and the
    /// proxies reveal it.
    ///
    /// - Parameters:
    ///   - head: A request from which `accepting` has removed what only another gateway may state.
    ///   - peer: The numeric address of the connection; nil if unknown.
    func origin(of head: HTTPRequest, peer: String?) -> ClientOrigin {
        let fields = head.headerFields
        if let text = fields[.clientOrigin], let origin = ClientOrigin(text: text) { return origin }
        let found = proxies.origin(of: fields, peer: peer)
        var origin = ClientOrigin(address: found.address)
        origin.region = found.region
        origin.isShared = found.address == peer && peer.map(proxies.include) ?? false
        origin.isMediaSeen = !origin.isShared && proxies.seesAllMedia(of: fields, peer: peer)
        origin.isDirect = origin.isMediaSeen && !TrustedProxies.isForwarded(fields) && !fields.contains(.via)
        let isReported = peer.map { proxies.mayReport(from: $0) } ?? false
        origin.isSecure = head.scheme == "https" || isReported && fields[.forwardedProto]?.lowercased() == "https"
        return origin
    }

    /// Returns a request with the statements of its sender, if that is another gateway, and without those that only
    /// another gateway may make, if it is not.
    static func accepting(_ head: HTTPRequest, from sender: NodeRouting.Sender) -> HTTPRequest {
        var head = head
        if head.headerFields.contains(.nodeSignature) { head.headerFields[.nodeSignature] = nil }
        if case .node(let name, let origin) = sender {
            head.headerFields[.forwardingNode] = name
            head.headerFields[.clientOrigin] = origin.text
        } else {
            for name in [HTTPField.Name.forwardingNode, .clientOrigin] where head.headerFields.contains(name) {
                head.headerFields[name] = nil
            }
        }
        return head
    }

    /// Whether the server behind would treat the target as a player's report, its request for admission, or one for a
    /// still image, in any spelling of its path.
    private static func isOfPlayer(_ target: String) -> Bool {
        let path = target.utf8.prefix { $0 != UInt8(ascii: "?") }
        guard let name = path.split(separator: UInt8(ascii: "/")).last else { return false }
        return ["cmcd", "admission", "snapshot.jpg"].contains { name.elementsEqual($0.utf8) }
    }

    /// Returns the `PeerAddress.account` charged for a forwarded request; nil if there is no limit.
    public static func client(_ fields: HTTPFields) -> UInt64? {
        fields[.client].flatMap { UInt64($0) }
    }

    /// Returns the reporting player of a forwarded request.
    public static func reporter(_ fields: HTTPFields) -> PlayerRequest {
        var player = PlayerRequest(userAgent: fields[.userAgent], address: fields[.playerAddress])
        player.region = fields[.playerRegion]
        player.isSharedAddress = fields[.playerIsShared] != nil
        return player
    }
}

extension HTTPField.Name {
    // Clients cannot set these fields. The names are valid tokens, so the defaults are never used.
    static let playerAddress = Self("X-Footlight-Player-Address") ?? .via
    static let client = Self("X-Footlight-Client") ?? .via
    fileprivate static let forwardedProto = Self("X-Forwarded-Proto") ?? .via
    static let playerIsShared = Self("X-Footlight-Player-Shared") ?? .via
    static let playerRegion = Self("X-Footlight-Player-Region") ?? .via
}

/// The identity and role of a viewer according to its token.
public struct ViewerBearer: Sendable, Equatable {
    /// The identity in the token; nil without a token.
    public var identity: String?
    /// The role granted by the token.
    public var role: PlayerRequest.Role
    /// Whether the token is valid for the room that is played.
    public var isForRoom: Bool

    /// Creates a bearer; by default, a viewer without a token.
    public init(identity: String? = nil, role: PlayerRequest.Role = .viewer, isForRoom: Bool = false) {
        self.identity = identity
        self.role = role
        self.isForRoom = isForRoom
    }
}

/// The reason why a player's token is refused.
public enum ViewerTokenRefusal: Error, Sendable {
    /// The token is expired, revoked, or not issued by this gateway.
    case invalid
    /// The token is an operator's, which is not accepted in a URL.
    case operatorToken
}
