import HTTPTypes
import Stage

extension PlayerReading {
    /// A request as it is passed on: what players report goes with where it comes from, which only the connection tells.
    ///
    /// - Parameter peer: The numeric address of its connection; nil when it is not known.
    func passingOn(_ head: HTTPRequest, peer: String?) -> HTTPRequest {
        guard head.method == .post else { return head }
        let origin = proxies.origin(of: head.headerFields, peer: peer)
        var head = head
        head.headerFields[.playerAddress] = origin.address
        head.headerFields[.playerRegion] = origin.region
        return head
    }
}

extension HTTPField.Name {
    // The names are tokens, so these are never the other one.
    fileprivate static let playerAddress = Self(PlayerRequest.addressField) ?? .via
    fileprivate static let playerRegion = Self(PlayerRequest.regionField) ?? .via
}
