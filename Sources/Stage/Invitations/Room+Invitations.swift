/// Invitations, by command and by time.
extension Room {
    /// Calls somebody.
    ///
    /// Events: `invitation.created`.
    ///
    /// - Throws: 53106; 3073 or 53200-53202 for the request; 53006 when too many ring already.
    mutating func invite(_ request: InvitationRequest, at now: Double) throws(StageError) -> Invitation {
        guard status == .inProgress else { throw .roomNotFound }
        return announce(try invitations.create(request, roomSID: sid, roomName: settings.name, at: now), at: now)
    }

    /// Accepts for one of those called.
    ///
    /// Events: `invitation.accepted`, `hand.lowered` for who asked to speak and is invited to.
    ///
    /// - Throws: 404 for a stranger, 409 when it was answered or called back, 410 when it is too late.
    mutating func accept(invitation sid: String, by identity: String, at now: Double) throws(StageError) -> Invitation {
        let invitation = announce(try invitations.accept(sid, by: identity, at: now), at: now)
        if invitation.mode == .sendAndReceive, let index = index(ofIdentity: identity) {
            dropHand(of: participants[index].sid, reason: .onStage, at: now)
        }
        return invitation
    }

    /// Declines for one of those called; to do so again is fine.
    ///
    /// Events: `invitation.rejected`.
    ///
    /// - Throws: As `accept`.
    mutating func reject(invitation sid: String, by identity: String, at now: Double) throws(StageError) -> Invitation {
        if let change = try invitations.reject(sid, by: identity, at: now) { return announce(change, at: now) }
        guard let invitation = invitations.invitation(sid) else { throw .invitationNotFound }
        return invitation
    }

    /// Calls back from all who have not answered.
    ///
    /// Events: `invitation.cancelled`.
    ///
    /// - Parameter identity: Who wants to; nil for an operator.
    /// - Throws: 404 for a stranger, 20106 for one of those called, 409 when nobody is left to answer, 410 when too late.
    mutating func cancel(invitation sid: String, by identity: String?, at now: Double) throws(StageError) -> Invitation
    {
        announce(try invitations.cancel(sid, by: identity, at: now), at: now)
    }

    /// Ends the ringing of those that nobody answered.
    ///
    /// Events: `invitation.missed`.
    mutating func expireInvitations(at now: Double) {
        for change in invitations.expire(at: now) { emit(.invitation(change), at: now) }
    }

    /// Calls all back, for when the room ends.
    ///
    /// Events: `invitation.cancelled`.
    mutating func cancelInvitations(at now: Double) {
        for change in invitations.cancelAll(at: now) { emit(.invitation(change), at: now) }
    }

    private mutating func announce(_ change: InvitationChange, at now: Double) -> Invitation {
        emit(.invitation(change), at: now)
        return change.invitation
    }
}
