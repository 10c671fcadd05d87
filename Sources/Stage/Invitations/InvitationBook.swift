/// The invitations of one room.
///
/// Each of those called goes from ringing to one of accepted, rejected, cancelled or missed, and stays there. An
/// acceptance brings a permission for the invited mode that can be used once, and soon.
///
/// Pure rules: time is passed in, in seconds since 1970.
struct InvitationBook: Sendable, Equatable, Codable {
    /// Invitations that may ring at the same time.
    static let mostOpen = 50
    /// Closed invitations that are remembered, so that a late answer is told what became of it.
    static let keptClosed = 100
    /// Seconds in which the permission of an acceptance can be used.
    static let permissionPeriod = 120.0

    /// The oldest first.
    private(set) var invitations: [Invitation] = []

    func invitation(_ sid: String) -> Invitation? {
        invitations.first { $0.sid == sid }
    }

    /// Those that still ring for somebody.
    func ringing(for identity: String, at now: Double) -> [Invitation] {
        invitations.filter { now < $0.expiresAt && $0.invitee(identity)?.state == .ringing }
    }

    // MARK: Calling

    mutating func create(
        _ request: InvitationRequest,
        roomSID: String,
        roomName: String,
        at now: Double
    ) throws(StageError) -> InvitationChange {
        try request.validate()
        guard invitations.count(where: \.isOpen) < Self.mostOpen else { throw .tooManyInvitations }
        let invitation = Invitation(
            sid: StageIdentifier.make("IN"),
            roomSID: roomSID,
            roomName: roomName,
            inviter: request.inviter,
            mode: request.mode,
            createdAt: now,
            expiresAt: now + Double(request.timeout),
            invitees: request.invitees.map(Invitee.init)
        )
        invitations.append(invitation)
        forgetOldest()
        return InvitationChange(kind: .created, invitation: invitation, identities: request.invitees)
    }

    /// Calls an invitation back from all who have not answered.
    ///
    /// - Parameter identity: Who wants to; nil for an operator.
    mutating func cancel(_ sid: String, by identity: String?, at now: Double) throws(StageError) -> InvitationChange {
        guard let index = invitations.firstIndex(where: { $0.sid == sid }) else { throw .invitationNotFound }
        if let identity, identity != invitations[index].inviter {
            throw invitations[index].concerns(identity) ? .tokenGrantsInvalid : .invitationNotFound
        }
        guard now < invitations[index].expiresAt else { throw .invitationExpired }
        guard let change = endRinging(at: index, .cancelled, now: now) else { throw .invitationClosed }
        return change
    }

    /// Calls all back, for when the room ends.
    mutating func cancelAll(at now: Double) -> [InvitationChange] {
        invitations.indices.compactMap { endRinging(at: $0, .cancelled, now: now) }
    }

    /// Ends the ringing of those that were not answered in time.
    mutating func expire(at now: Double) -> [InvitationChange] {
        invitations.indices.compactMap { index in
            now < invitations[index].expiresAt ? nil : endRinging(at: index, .missed, now: now)
        }
    }

    // MARK: Answering

    /// Accepts; only one device of an identity can, and only in time.
    mutating func accept(_ sid: String, by identity: String, at now: Double) throws(StageError) -> InvitationChange {
        try answer(sid, by: identity, .accepted, at: now)
    }

    /// Declines; to do so again is no change.
    mutating func reject(_ sid: String, by identity: String, at now: Double) throws(StageError) -> InvitationChange? {
        if invitation(sid)?.invitee(identity)?.state == .rejected { return nil }
        return try answer(sid, by: identity, .rejected, at: now)
    }

    // MARK: The permission

    /// The invitation that lets somebody take a mode now; nil when none does.
    ///
    /// - Parameter sid: The one to look at; nil for any.
    func permission(of identity: String, for mode: ParticipantMode, sid: String? = nil, at now: Double) -> String? {
        invitations.last { invitation in
            guard sid == nil || sid == invitation.sid, invitation.mode == mode else { return false }
            guard let invitee = invitation.invitee(identity), invitee.state == .accepted else { return false }
            return !invitee.isUsed && now < (invitee.changedAt ?? now) + Self.permissionPeriod
        }?.sid
    }

    /// Whether somebody has accepted an invitation that is remembered.
    func hasAccepted(_ identity: String) -> Bool {
        invitations.contains { $0.invitee(identity)?.state == .accepted }
    }

    /// Permits a mode to somebody who asked for it, as an invitation does that is accepted this moment.
    mutating func grant(
        _ mode: ParticipantMode,
        to identity: String,
        by inviter: String,
        roomSID: String,
        roomName: String,
        at now: Double
    ) {
        var invitee = Invitee(identity: identity)
        invitee.state = .accepted
        invitee.changedAt = now
        invitations.append(
            Invitation(
                sid: StageIdentifier.make("IN"),
                roomSID: roomSID,
                roomName: roomName,
                inviter: inviter,
                mode: mode,
                createdAt: now,
                expiresAt: now,
                invitees: [invitee]
            )
        )
        forgetOldest()
    }

    /// Uses a permission up.
    mutating func use(_ sid: String, by identity: String) {
        guard let index = invitations.firstIndex(where: { $0.sid == sid }) else { return }
        for place in invitations[index].invitees.indices where invitations[index].invitees[place].identity == identity {
            invitations[index].invitees[place].isUsed = true
        }
    }

    // MARK: Inside

    private mutating func answer(
        _ sid: String,
        by identity: String,
        _ state: InvitationState,
        at now: Double
    ) throws(StageError) -> InvitationChange {
        guard let index = invitations.firstIndex(where: { $0.sid == sid }),
            let place = invitations[index].invitees.firstIndex(where: { $0.identity == identity })
        else { throw .invitationNotFound }
        switch invitations[index].invitees[place].state {
        case .ringing where now < invitations[index].expiresAt: break
        case .ringing, .missed: throw .invitationExpired
        case .accepted, .rejected, .cancelled: throw .invitationClosed
        }
        invitations[index].invitees[place].state = state
        invitations[index].invitees[place].changedAt = now
        return InvitationChange(
            kind: state == .accepted ? .accepted : .rejected,
            invitation: invitations[index],
            identities: [identity]
        )
    }

    private mutating func endRinging(
        at index: Int,
        _ kind: InvitationChange.Kind,
        now: Double
    ) -> InvitationChange? {
        let state: InvitationState = kind == .missed ? .missed : .cancelled
        var ended: [String] = []
        for place in invitations[index].invitees.indices
        where invitations[index].invitees[place].state == .ringing {
            invitations[index].invitees[place].state = state
            invitations[index].invitees[place].changedAt = now
            ended.append(invitations[index].invitees[place].identity)
        }
        guard !ended.isEmpty else { return nil }
        return InvitationChange(kind: kind, invitation: invitations[index], identities: ended)
    }

    private mutating func forgetOldest() {
        var surplus = invitations.count(where: { !$0.isOpen }) - Self.keptClosed
        invitations.removeAll { invitation in
            guard surplus > 0, !invitation.isOpen else { return false }
            surplus -= 1
            return true
        }
    }
}
