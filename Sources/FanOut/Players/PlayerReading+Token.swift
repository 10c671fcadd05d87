import HTTPTypes

extension PlayerReading {
    /// The token that a request shows, where it matters: that of a player as it begins, in its address, or that of a network
    /// that asks on behalf of somebody, in a header field that it puts on all its requests.
    static func token(of head: HTTPRequest, query: QueryItems, for request: MediaRequest) -> String? {
        guard head.method != .options else { return nil }
        if request.beginsSession { return query["token"] }
        guard case .mediaPlaylist = request.target else { return nil }
        return head.headerFields[.relay]
    }
}

extension HTTPField.Name {
    // The name is a token, so this is never the other one.
    fileprivate static let relay = Self("X-Footlight-Relay") ?? .via
}
