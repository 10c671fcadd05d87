/// An invitation into a room, or on stage.
public struct Invitation: Sendable, Hashable, Codable {
    /// `IN` and 32 hexadecimal digits.
    public let sid: String
    /// The room's sid.
    public let roomSID: String
    /// The room's unique name.
    public let roomName: String
    /// The inviter's identity.
    public let inviter: String
    /// The mode that acceptance permits.
    public let mode: ParticipantMode
    /// Seconds since 1970.
    public let createdAt: Double
    /// The end of the ringing, in seconds since 1970.
    public let expiresAt: Double
    /// The invitees, in the given order.
    public internal(set) var invitees: [Invitee]

    /// The state of the whole invitation.
    ///
    /// One acceptance is enough for `accepted`; while one still rings it is `ringing`; `rejected` when all have
    /// declined.
    public var state: InvitationState {
        let states = Set(invitees.map(\.state))
        let order: [InvitationState] = [.accepted, .ringing, .cancelled, .missed]
        return order.first(where: states.contains) ?? .rejected
    }

    /// Whether an invitee can still answer.
    public var isOpen: Bool { invitees.contains { $0.state == .ringing } }

    /// Returns the invitee with an identity.
    public func invitee(_ identity: String) -> Invitee? {
        invitees.first { $0.identity == identity }
    }

    /// Whether an identity is the inviter or an invitee.
    public func concerns(_ identity: String) -> Bool {
        inviter == identity || invitee(identity) != nil
    }
}

/// The state of an invitation for one invitee.
public enum InvitationState: String, Sendable, Hashable, Codable {
    /// Not answered yet.
    case ringing
    case accepted
    case rejected
    /// Cancelled by the inviter, or by the end of the room.
    case cancelled
    /// Not answered in time.
    case missed
}

/// An invitee of an invitation.
public struct Invitee: Sendable, Hashable, Codable {
    /// The identity.
    public var identity: String
    /// The state.
    public var state: InvitationState
    /// The time of the last change, in seconds since 1970; nil while ringing.
    public var changedAt: Double?
    /// Whether the permission of the acceptance was used.
    var isUsed = false

    init(identity: String) {
        self.identity = identity
        state = .ringing
    }
}

/// A change of an invitation.
public struct InvitationChange: Sendable, Hashable {
    /// The kind of the change.
    public enum Kind: String, Sendable, Hashable, Codable, CaseIterable {
        case created
        case accepted
        case rejected
        case cancelled
        case missed
    }

    /// The kind of the change.
    public var kind: Kind
    /// The invitation after the change.
    public var invitation: Invitation
    /// The affected identities: all for a new one, the one that answered, those whose ringing ended.
    public var identities: [String]
}

/// A request to invite identities.
public struct InvitationRequest: Sendable, Hashable {
    /// The inviter's identity.
    public var inviter: String
    /// The invitees: 1 to 50 identities without the inviter's; duplicates are removed.
    public var identities: [String]
    /// The mode that acceptance permits.
    public var mode: ParticipantMode
    /// The ringing time in seconds, 5 to 300.
    public var timeout: Int

    /// Creates a request; by default to become a host, with a timeout of 30 seconds.
    public init(
        inviter: String,
        identities: [String],
        mode: ParticipantMode = .sendAndReceive,
        timeout: Int = 30
    ) {
        self.inviter = inviter
        self.identities = identities
        self.mode = mode
        self.timeout = timeout
    }

    /// The maximum number of invitees.
    static let maximumInvitees = 50

    /// The invitees without duplicates.
    var invitees: [String] {
        var seen: Set<String> = []
        return identities.filter { seen.insert($0).inserted }
    }

    /// Validates all values.
    ///
    /// - Throws: 3073 naming the field; 53200, 53201 or 53202 for an identity.
    func validate() throws(StageError) {
        let called = invitees
        guard (1...Self.maximumInvitees).contains(called.count) else {
            throw .invalidParameter("identities", "must name between 1 and \(Self.maximumInvitees) identities")
        }
        for identity in called {
            switch NameRule.check(identity) {
            case nil: break
            case .empty: throw .identityInvalid
            case .tooLong: throw .identityTooLong
            case .wrongCharacters: throw .identityCharactersInvalid
            }
        }
        guard !called.contains(inviter) else {
            throw .invalidParameter("identities", "must not name the inviter")
        }
        try StageError.check(timeout, in: 5...300, field: "timeout")
    }
}
