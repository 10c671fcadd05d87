public import HTTPTypes
public import Stage

extension PlayerReading {
    /// A request as it is passed on: it goes with whose it is, and what players report with where it comes from, which only
    /// the connection tells.
    ///
    /// - Parameters:
    ///   - peer: The numeric address of its connection; nil when it is not known.
    ///   - client: The `PeerAddress.account` whose limits hold for it; nil where there are none.
    func passingOn(_ head: HTTPRequest, peer: String?, client: UInt64? = nil) -> HTTPRequest {
        var head = head
        head.headerFields[.client] = client.map { String($0) }
        guard head.method == .post, Self.isReport(head.path ?? "") else { return head }
        let origin = proxies.origin(of: head.headerFields, peer: peer)
        head.headerFields[.playerAddress] = origin.address
        head.headerFields[.playerRegion] = origin.region
        return head
    }

    /// Whether whoever reads reports takes it for one, however the path is written.
    private static func isReport(_ target: String) -> Bool {
        let path = target.utf8.prefix { $0 != UInt8(ascii: "?") }
        return path.split(separator: UInt8(ascii: "/")).last?.elementsEqual("cmcd".utf8) ?? false
    }

    /// The `PeerAddress.account` whose limits hold for a request that was passed on; nil where there are none.
    public static func client(_ fields: HTTPFields) -> UInt64? {
        fields[.client].flatMap { UInt64($0) }
    }

    /// Who reports, as a request says it that was passed on.
    public static func reporter(_ fields: HTTPFields) -> PlayerRequest {
        var player = PlayerRequest(userAgent: fields[.userAgent], address: fields[.playerAddress])
        player.region = fields[.playerRegion]
        return player
    }
}

extension HTTPField.Name {
    // Nobody else may send them. The names are tokens, so these are never the other one.
    static let playerAddress = Self("X-Footlight-Player-Address") ?? .via
    static let client = Self("X-Footlight-Client") ?? .via
    static let playerRegion = Self("X-Footlight-Player-Region") ?? .via
}
