/// What is believed of what a request says of its player; the same for every way of watching.
public struct PlayerReading: Sendable {
    /// The servers in front that say where a request comes from.
    public var proxies: TrustedProxies
    /// Whether ids that devices keep for themselves are used; their users have to have agreed.
    public var takesDevices: Bool
    /// Whether the addresses that direct players are given name the session in their path, so that what they are sent of
    /// media is theirs for sure.
    public var namesSessionsInPaths = false
    /// Whose token it is, and whether it is good for that room; throws `ViewerTokenRefusal`.
    public var bearer: (@Sendable (_ token: String, _ room: String) async throws -> ViewerBearer)?

    /// Believes nothing, unless given otherwise.
    public init(
        proxies: TrustedProxies = TrustedProxies(),
        takesDevices: Bool = false,
        bearer: (@Sendable (_ token: String, _ room: String) async throws -> ViewerBearer)? = nil
    ) {
        self.proxies = proxies
        self.takesDevices = takesDevices
        self.bearer = bearer
    }
}
