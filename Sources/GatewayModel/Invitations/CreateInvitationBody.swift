/// The body of `POST /v1/rooms/{room}/invitations`.
public struct CreateInvitationBody: Codable, Sendable, Hashable {
    /// Who is called; at least one.
    public var identities: [String]
    /// What accepting allows; `SEND_AND_RECV` when left out.
    public var mode: String?
    /// Seconds it rings, 5 to 300; 30 when left out.
    public var timeout: Int?

    /// Makes a body; what is left out is nil.
    public init(identities: [String], mode: String? = nil, timeout: Int? = nil) {
        self.identities = identities
        self.mode = mode
        self.timeout = timeout
    }

    private enum CodingKeys: String, CodingKey {
        case identities
        case mode
        case timeout
    }
}
