/// What became of an invitation.
public struct InvitationChange: Sendable, Hashable {
    /// What can become of one.
    public enum Kind: String, Sendable, Hashable, Codable, CaseIterable {
        case created
        case accepted
        case rejected
        case cancelled
        case missed
    }

    /// What happened.
    public var kind: Kind
    /// The invitation afterwards.
    public var invitation: Invitation
    /// The identities it happened to: all for a new one, the one who answered, those whose ringing ended.
    public var identities: [String]
}
