import HTTPTypes
import Stage

extension PlayerRequest {
    /// What a request by HTTP says of its player.
    ///
    /// - Parameter address: The player's numeric address; nil when it is not known.
    init(_ head: HTTPRequest, query: QueryItems, address: String?) {
        let fields = head.headerFields
        self.init(
            sid: query["sid"],
            userAgent: fields[.userAgent],
            address: address,
            isHead: head.method == .head
        )
        cmcd = query["CMCD"]
        cmcdSession = fields[.cmcdSession]
        cmcdStatus = fields[.cmcdStatus]
        playbackSessionID = fields[.playbackSessionID]
        purpose = fields[.secPurpose] ?? fields[.purpose]
        device = query["did"]
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
