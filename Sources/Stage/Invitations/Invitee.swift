/// One of those an invitation was sent to.
public struct Invitee: Sendable, Hashable, Codable {
    /// Who.
    public var identity: String
    /// How it stands.
    public var state: InvitationState
    /// When it came to that, in seconds since 1970; nil while ringing.
    public var changedAt: Double?
    /// The permission that an acceptance brings was made use of.
    var isUsed = false

    init(identity: String) {
        self.identity = identity
        state = .ringing
    }
}
