import Foundation
import HTTPTypes
import RTMP
import Stage

extension PlayerRequest {
    /// Reads the player's data from an HTTP request.
    ///
    /// - Parameters:
    ///   - request: The parsed path.
    ///   - peer: The numeric address of the connection; nil if unknown.
    ///   - bearer: The identity and role from its token.
    init(
        _ head: HTTPRequest,
        for request: MediaRequest,
        query: QueryItems,
        peer: String?,
        bearer: ViewerBearer,
        trust: ClientTrustPolicy
    ) {
        let fields = head.headerFields
        let origin = trust.origin(of: head, peer: peer)
        self.init(
            sid: query["sid"] ?? request.sid,
            userAgent: fields[.userAgent],
            address: origin.address,
            identity: bearer.identity,
            role: bearer.role,
            isHead: head.method == .head
        )
        region = origin.region
        isSharedAddress = origin.isShared
        isMediaSeen = origin.isMediaSeen
        isDirect = origin.isDirect
        acceptsGzip = Gzip.isAccepted(fields[.acceptEncoding])
        cmcd = query["CMCD"]
        cmcdSession = fields[.cmcdSession]
        cmcdStatus = fields[.cmcdStatus]
        playbackSessionID = fields[.playbackSessionID]
        purpose = fields[.secPurpose] ?? fields[.purpose]
        if trust.usesDeviceIDs { device = query["did"] }
        holdsToken = bearer.isForRoom
        ticket = query["ticket"]
        passphrase = query["passphrase"]?.decodingPercents
        takesOver = query["take_over"] == "1"
    }
}

extension ClientTrustPolicy {
    /// Whether a request carries CMCD (CTA-5004) in its query or header fields.
    static func hasCMCD(_ head: HTTPRequest, query: QueryItems) -> Bool {
        query["CMCD"] != nil || head.headerFields[.cmcdStatus] != nil || head.headerFields[.cmcdSession] != nil
    }
}

extension HTTPField.Name {
    private static func named(_ name: String) -> HTTPField.Name {
        // The names below are valid tokens, so the default is never used.
        HTTPField.Name(name) ?? .userAgent
    }

    fileprivate static let cmcdSession = named("CMCD-Session")
    fileprivate static let cmcdStatus = named("CMCD-Status")
    fileprivate static let playbackSessionID = named("X-Playback-Session-Id")
    fileprivate static let secPurpose = named("Sec-Purpose")
    fileprivate static let purpose = named("Purpose")
}

extension PlayerRequest {
    /// Reads the player's data from an RTMP request, a subset of what HTTP provides.
    ///
    /// - Parameter bearer: The identity and role from its token.
    init(_ request: PlayRequest, bearer: ViewerBearer, trust: ClientTrustPolicy) {
        self.init(
            sid: request.query["sid"],
            userAgent: request.clientName,
            address: request.remoteAddress,
            identity: bearer.identity,
            role: bearer.role
        )
        cmcd = request.query["CMCD"]
        isSharedAddress = request.remoteAddress.map(trust.proxies.include) ?? false
        if trust.usesDeviceIDs { device = request.query["did"] }
        holdsToken = bearer.isForRoom
        ticket = request.query["ticket"]
        passphrase = request.query["passphrase"]?.decodingPercents
        takesOver = request.query["take_over"] == "1"
    }
}

extension String {
    /// The text without percent-encoding (RFC 3986 section 2.1), as passphrases in addresses have it.
    fileprivate var decodingPercents: String { removingPercentEncoding ?? self }
}

extension ViewerAdmission {
    /// The session id for the response; nil if the player is refused.
    var sid: String? {
        switch self {
        case .viewer(let sid), .uncounted(let sid): sid
        case .refused, .crowded, .denied: nil
        }
    }

    /// Returns the id under which a media playlist request is recorded; nil if it is not.
    ///
    /// Uncounted playback is recorded too, so that its id stays known as uncounted. Requests that do not play (HEAD,
    /// prefetch, relays) are not recorded, because their URL may carry a viewer's id.
    func recordedSID(of player: PlayerRequest) -> String? {
        switch self {
        case .viewer: player.isHead ? nil : sid
        case .uncounted: player.isHead || player.purpose != nil || player.role == .relay ? nil : sid
        case .refused, .crowded, .denied: nil
        }
    }

    /// The response to a refused player.
    var refusal: MediaResponse {
        switch self {
        case .crowded: .tooManySessions
        case .denied(let refusal): .denied(refusal)
        case .viewer, .uncounted, .refused: .foreignSession
        }
    }
}
