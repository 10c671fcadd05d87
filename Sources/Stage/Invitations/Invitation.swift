/// A call to come into a room, or on stage.
public struct Invitation: Sendable, Hashable, Codable {
    /// `IN` and 32 hexadecimal digits.
    public let sid: String
    /// The room's sid.
    public let roomSID: String
    /// The room's unique name.
    public let roomName: String
    /// The identity of who calls.
    public let inviter: String
    /// What an acceptance allows.
    public let mode: ParticipantMode
    /// Seconds since 1970.
    public let createdAt: Double
    /// When the ringing ends, in seconds since 1970.
    public let expiresAt: Double
    /// Those it was sent to, in the order they were named.
    public internal(set) var invitees: [Invitee]

    /// How it stands as a whole.
    ///
    /// One acceptance is enough for `accepted`; while one still rings it is `ringing`; `rejected` when all have declined.
    public var state: InvitationState {
        let states = Set(invitees.map(\.state))
        let order: [InvitationState] = [.accepted, .ringing, .cancelled, .missed]
        return order.first(where: states.contains) ?? .rejected
    }

    /// Whether anybody can still answer.
    public var isOpen: Bool { invitees.contains { $0.state == .ringing } }

    /// The part of one of those it was sent to.
    public func invitee(_ identity: String) -> Invitee? {
        invitees.first { $0.identity == identity }
    }

    /// Whether it is any news to somebody: the one who calls, or one of those called.
    public func concerns(_ identity: String) -> Bool {
        inviter == identity || invitee(identity) != nil
    }
}
