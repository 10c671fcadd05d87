/// The body of `POST /v1/rooms/{room}/participants`.
public struct JoinBody: Codable, Sendable, Hashable {
    /// Who joins, `[A-Za-z0-9_-]{1,64}`; the token's identity when left out.
    public var identity: String?
    /// The name on the tile; the identity when left out.
    public var displayName: String?
    /// `SEND_AND_RECV`, `RECV_ONLY` or `SIGNALLING_ONLY`; the token's mode when left out.
    public var mode: String?

    /// Makes a body; what is left out is nil.
    public init(identity: String? = nil, displayName: String? = nil, mode: String? = nil) {
        self.identity = identity
        self.displayName = displayName
        self.mode = mode
    }

    private enum CodingKeys: String, CodingKey {
        case identity
        case displayName = "display_name"
        case mode
    }
}
