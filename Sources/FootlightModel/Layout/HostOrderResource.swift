/// The body and the response of `PUT /v1/rooms/{room}/host_order`.
public struct HostOrderResource: Codable, Sendable, Hashable {
    /// Identities of hosts in their order on stage; hosts that are not named follow in their present order.
    public var identities: [String]

    /// Makes an order.
    public init(identities: [String]) {
        self.identities = identities
    }
}
