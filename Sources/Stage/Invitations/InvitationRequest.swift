/// The wish to call somebody.
public struct InvitationRequest: Sendable, Hashable {
    /// The identity of who calls.
    public var inviter: String
    /// Who is called: 1 to 50 identities, none of them the inviter's; one named twice is called once.
    public var identities: [String]
    /// What an acceptance allows.
    public var mode: ParticipantMode
    /// Seconds until the ringing ends, 5 to 300.
    public var timeout: Int

    /// Makes a request; to come on stage within 30 seconds by default.
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

    /// Most identities that one invitation calls.
    static let mostInvitees = 50

    /// Those to call, each once.
    var invitees: [String] {
        var seen: Set<String> = []
        return identities.filter { seen.insert($0).inserted }
    }

    /// Checks everything.
    ///
    /// - Throws: 3073 naming the field; 53200, 53201 or 53202 for an identity.
    func validate() throws(StageError) {
        let called = invitees
        guard (1...Self.mostInvitees).contains(called.count) else {
            throw .invalidParameter("identities", "must name between 1 and \(Self.mostInvitees) identities")
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
