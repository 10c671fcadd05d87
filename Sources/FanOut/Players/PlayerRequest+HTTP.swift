import HTTPTypes
import Stage

extension PlayerRequest {
    /// What a request by HTTP says of its player.
    ///
    /// - Parameters:
    ///   - request: What is asked for, as its path says.
    ///   - peer: The numeric address of its connection; nil when it is not known.
    ///   - bearer: Whose token it shows.
    init(
        _ head: HTTPRequest,
        for request: MediaRequest,
        query: QueryItems,
        peer: String?,
        bearer: ViewerBearer,
        reading: PlayerReading
    ) {
        let fields = head.headerFields
        let origin = reading.proxies.origin(of: fields, peer: peer)
        self.init(
            sid: query["sid"] ?? request.sid,
            userAgent: fields[.userAgent],
            address: origin.address,
            identity: bearer.identity,
            role: bearer.role,
            isHead: head.method == .head
        )
        region = origin.region
        isOfMany = origin.address == peer && peer.map(reading.proxies.include) ?? false
        isMediaSeen = !isOfMany && reading.proxies.showMedia(of: fields, peer: peer)
        isDirect = isMediaSeen && !TrustedProxies.isForwarded(fields) && !fields.contains(.via)
        readsGzip = Gzip.isAccepted(fields[.acceptEncoding])
        cmcd = query["CMCD"]
        cmcdSession = fields[.cmcdSession]
        cmcdStatus = fields[.cmcdStatus]
        playbackSessionID = fields[.playbackSessionID]
        purpose = fields[.secPurpose] ?? fields[.purpose]
        if reading.takesDevices { device = query["did"] }
    }
}

extension PlayerReading {
    /// Whether a request carries CMCD (CTA-5004), in its query or in header fields.
    static func hasCMCD(_ head: HTTPRequest, query: QueryItems) -> Bool {
        query["CMCD"] != nil || head.headerFields[.cmcdStatus] != nil || head.headerFields[.cmcdSession] != nil
    }
}

extension HTTPField.Name {
    private static func named(_ name: String) -> HTTPField.Name {
        // The names below are tokens, so this is never the other one.
        HTTPField.Name(name) ?? .userAgent
    }

    fileprivate static let cmcdSession = named("CMCD-Session")
    fileprivate static let cmcdStatus = named("CMCD-Status")
    fileprivate static let playbackSessionID = named("X-Playback-Session-Id")
    fileprivate static let secPurpose = named("Sec-Purpose")
    fileprivate static let purpose = named("Purpose")
}
