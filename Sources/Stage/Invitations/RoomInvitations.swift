import Synchronization

/// The invitations of one room.
///
/// The state of each invitee changes once from ringing to accepted, rejected, cancelled or missed. An acceptance grants
/// a permission for the invited mode that is valid once, for a limited time.
///
/// Pure rules: the time is passed in, in seconds since 1970.
struct RoomInvitations: Sendable, Equatable, Codable {
    /// The maximum number of ringing invitations.
    static let maximumOpen = 50
    /// The maximum number of retained closed invitations, so that late answers get a specific error.
    static let maximumClosed = 100
    /// The validity of an acceptance's permission, in seconds.
    static let permissionPeriod = 120.0

    /// The oldest first.
    private(set) var invitations: [Invitation] = []

    func invitation(_ sid: String) -> Invitation? {
        invitations.first { $0.sid == sid }
    }

    /// Returns the invitations that ring for an identity.
    func ringing(for identity: String, at now: Double) -> [Invitation] {
        invitations.filter { now < $0.expiresAt && $0.invitee(identity)?.state == .ringing }
    }

    // MARK: Creating and cancelling

    mutating func create(
        _ request: InvitationRequest,
        roomSID: String,
        roomName: String,
        at now: Double
    ) throws(StageError) -> InvitationChange {
        try request.validate()
        guard invitations.count(where: \.isOpen) < Self.maximumOpen else { throw .tooManyInvitations }
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
        evictOldestClosed()
        return InvitationChange(kind: .created, invitation: invitation, identities: request.invitees)
    }

    /// Cancels an invitation for all invitees that have not answered.
    ///
    /// - Parameter identity: The requesting identity; nil for an operator.
    mutating func cancel(_ sid: String, by identity: String?, at now: Double) throws(StageError) -> InvitationChange {
        guard let index = invitations.firstIndex(where: { $0.sid == sid }) else { throw .invitationNotFound }
        if let identity, identity != invitations[index].inviter {
            throw invitations[index].concerns(identity) ? .tokenGrantsInvalid : .invitationNotFound
        }
        guard now < invitations[index].expiresAt else { throw .invitationExpired }
        guard let change = endRinging(at: index, .cancelled, now: now) else { throw .invitationClosed }
        return change
    }

    /// Cancels all invitations, at the end of the room.
    mutating func cancelAll(at now: Double) -> [InvitationChange] {
        invitations.indices.compactMap { endRinging(at: $0, .cancelled, now: now) }
    }

    /// Ends the ringing of expired invitations.
    mutating func expire(at now: Double) -> [InvitationChange] {
        invitations.indices.compactMap { index in
            now < invitations[index].expiresAt ? nil : endRinging(at: index, .missed, now: now)
        }
    }

    // MARK: Answering

    /// Accepts an invitation; only one device of an identity can, before the timeout.
    mutating func accept(_ sid: String, by identity: String, at now: Double) throws(StageError) -> InvitationChange {
        try answer(sid, by: identity, .accepted, at: now)
    }

    /// Declines an invitation; repeating it has no effect.
    mutating func reject(_ sid: String, by identity: String, at now: Double) throws(StageError) -> InvitationChange? {
        if invitation(sid)?.invitee(identity)?.state == .rejected { return nil }
        return try answer(sid, by: identity, .rejected, at: now)
    }

    // MARK: Permissions

    /// Returns the invitation that permits a mode now; nil without one.
    ///
    /// - Parameter sid: The invitation; nil for any.
    func permission(of identity: String, for mode: ParticipantMode, sid: String? = nil, at now: Double) -> String? {
        invitations.last { invitation in
            guard sid == nil || sid == invitation.sid, invitation.mode == mode else { return false }
            guard let invitee = invitation.invitee(identity), invitee.state == .accepted else { return false }
            return !invitee.isUsed && now < (invitee.changedAt ?? now) + Self.permissionPeriod
        }?.sid
    }

    /// Whether an identity has accepted a retained invitation.
    func hasAccepted(_ identity: String) -> Bool {
        invitations.contains { $0.invitee(identity)?.state == .accepted }
    }

    /// Grants a mode to an identity, like an invitation that is accepted at this moment.
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
        evictOldestClosed()
    }

    /// Marks a permission as used.
    mutating func use(_ sid: String, by identity: String) {
        guard let index = invitations.firstIndex(where: { $0.sid == sid }) else { return }
        for inviteeIndex in invitations[index].invitees.indices
        where invitations[index].invitees[inviteeIndex].identity == identity {
            invitations[index].invitees[inviteeIndex].isUsed = true
        }
    }

    // MARK: Helpers

    private mutating func answer(
        _ sid: String,
        by identity: String,
        _ state: InvitationState,
        at now: Double
    ) throws(StageError) -> InvitationChange {
        guard let index = invitations.firstIndex(where: { $0.sid == sid }),
            let inviteeIndex = invitations[index].invitees.firstIndex(where: { $0.identity == identity })
        else { throw .invitationNotFound }
        switch invitations[index].invitees[inviteeIndex].state {
        case .ringing where now < invitations[index].expiresAt: break
        case .ringing, .missed: throw .invitationExpired
        case .accepted, .rejected, .cancelled: throw .invitationClosed
        }
        invitations[index].invitees[inviteeIndex].state = state
        invitations[index].invitees[inviteeIndex].changedAt = now
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
        for inviteeIndex in invitations[index].invitees.indices
        where invitations[index].invitees[inviteeIndex].state == .ringing {
            invitations[index].invitees[inviteeIndex].state = state
            invitations[index].invitees[inviteeIndex].changedAt = now
            ended.append(invitations[index].invitees[inviteeIndex].identity)
        }
        guard !ended.isEmpty else { return nil }
        return InvitationChange(kind: kind, invitation: invitations[index], identities: ended)
    }

    private mutating func evictOldestClosed() {
        var surplus = invitations.count(where: { !$0.isOpen }) - Self.maximumClosed
        invitations.removeAll { invitation in
            guard surplus > 0, !invitation.isOpen else { return false }
            surplus -= 1
            return true
        }
    }
}

/// Invitations, by command and by timeout.
extension Room {
    /// Creates an invitation.
    ///
    /// Events: `invitation.created`.
    ///
    /// - Throws: 53106; 3073 or 53200-53202 for the request; 53006 at the maximum of ringing invitations.
    mutating func invite(_ request: InvitationRequest, at now: Double) throws(StageError) -> Invitation {
        guard status == .inProgress else { throw .roomNotFound }
        return announce(try invitations.create(request, roomSID: sid, roomName: settings.name, at: now), at: now)
    }

    /// Accepts an invitation for one invitee.
    ///
    /// Events: `invitation.accepted`, `hand.lowered` for a raised hand of an invited host.
    ///
    /// - Throws: 404 for other identities, 409 when answered or cancelled, 410 when expired.
    mutating func accept(invitation sid: String, by identity: String, at now: Double) throws(StageError) -> Invitation {
        let invitation = announce(try invitations.accept(sid, by: identity, at: now), at: now)
        if invitation.mode == .sendAndReceive, let index = index(ofIdentity: identity) {
            removeHand(of: participants[index].sid, reason: .onStage, at: now)
        }
        return invitation
    }

    /// Declines an invitation for one invitee; repeating it has no effect.
    ///
    /// Events: `invitation.rejected`.
    ///
    /// - Throws: As `accept`.
    mutating func reject(invitation sid: String, by identity: String, at now: Double) throws(StageError) -> Invitation {
        if let change = try invitations.reject(sid, by: identity, at: now) { return announce(change, at: now) }
        guard let invitation = invitations.invitation(sid) else { throw .invitationNotFound }
        return invitation
    }

    /// Cancels an invitation for all invitees that have not answered.
    ///
    /// Events: `invitation.cancelled`.
    ///
    /// - Parameter identity: The requesting identity; nil for an operator.
    /// - Throws: 404 for other identities, 20106 for an invitee, 409 when all have answered, 410 when expired.
    mutating func cancel(invitation sid: String, by identity: String?, at now: Double) throws(StageError) -> Invitation
    {
        announce(try invitations.cancel(sid, by: identity, at: now), at: now)
    }

    /// Ends the ringing of expired invitations.
    ///
    /// Events: `invitation.missed`.
    mutating func expireInvitations(at now: Double) {
        for change in invitations.expire(at: now) { emit(.invitation(change), at: now) }
    }

    /// Cancels all invitations, at the end of the room.
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

/// Invitations into a room or on stage, and their answers.
extension RoomDirectory {
    /// Creates an invitation; the caller checks the inviter's permission.
    ///
    /// - Throws: 53106; 3073 or 53200-53202 for the request; 53006 at the maximum of ringing ones, or while draining.
    public func invite(room: String, _ request: InvitationRequest) throws(StageError) -> Invitation {
        try change { (state, now) throws(StageError) in
            try state.rejectIfDraining()
            return try state.change(room) { (room) throws(StageError) in try room.invite(request, at: now) }
        }
    }

    /// Returns an invitation by sid, while it is retained.
    ///
    /// - Throws: 404.
    public func invitation(_ sid: String) throws(StageError) -> Invitation {
        try state.withLock { (state) throws(StageError) in
            guard let found = state.rooms[try state.room(ofInvitation: sid)]?.invitations.invitation(sid) else {
                throw .invitationNotFound
            }
            return found
        }
    }

    /// Accepts an invitation, which permits its mode once: for a join with its sid, or for a change of mode.
    ///
    /// - Throws: 404 for other identities, 409 when answered (also on another device) or cancelled, 410 when expired.
    public func acceptInvitation(_ sid: String, by identity: String) throws(StageError) -> Invitation {
        try changeInvitation(sid) { (room, now) throws(StageError) in
            try room.accept(invitation: sid, by: identity, at: now)
        }
    }

    /// Declines an invitation; repeating it has no effect.
    ///
    /// - Throws: As `acceptInvitation`.
    public func rejectInvitation(_ sid: String, by identity: String) throws(StageError) -> Invitation {
        try changeInvitation(sid) { (room, now) throws(StageError) in
            try room.reject(invitation: sid, by: identity, at: now)
        }
    }

    /// Cancels an invitation for all invitees that have not answered.
    ///
    /// - Parameter identity: The requesting identity, which must be the inviter; nil for an operator.
    /// - Throws: 404 for other identities, 20106 for an invitee, 409 when all have answered, 410 when expired.
    public func cancelInvitation(_ sid: String, by identity: String?) throws(StageError) -> Invitation {
        try changeInvitation(sid) { (room, now) throws(StageError) in
            try room.cancel(invitation: sid, by: identity, at: now)
        }
    }

    /// Whether an accepted invitation permits a mode now.
    ///
    /// The permission is not used up; the join or the change of mode decides.
    ///
    /// - Parameter sid: The invitation; nil for any of the room.
    /// - Throws: 53106.
    public func invitationPermits(
        room: String,
        identity: String,
        mode: ParticipantMode,
        invitation sid: String? = nil
    ) throws(StageError) -> Bool {
        try state.withLock { (state) throws(StageError) in
            let room = try state.room(room)
            return room.invitations.permission(of: identity, for: mode, sid: sid, at: clock.now) != nil
        }
    }

    /// Whether an identity has accepted a retained invitation to a room.
    ///
    /// - Throws: 53106.
    public func hasAcceptedInvitation(to room: String, identity: String) throws(StageError) -> Bool {
        try state.withLock { (state) throws(StageError) in
            try state.room(room).invitations.hasAccepted(identity)
        }
    }

    private func changeInvitation(
        _ sid: String,
        _ body: (inout Room, Double) throws(StageError) -> Invitation
    ) throws(StageError) -> Invitation {
        try change { (state, now) throws(StageError) in
            try state.change(try state.room(ofInvitation: sid)) { (room) throws(StageError) in try body(&room, now) }
        }
    }
}

extension DirectoryState {
    /// Returns the sid of an invitation's room.
    fileprivate func room(ofInvitation sid: String) throws(StageError) -> String {
        guard let room = rooms.first(where: { $0.value.invitations.invitation(sid) != nil }) else {
            throw .invitationNotFound
        }
        return room.key
    }
}

// No source system defines codes for these; the code is the HTTP status.

extension StageError {
    /// 404: the invitation does not exist, or not for this identity.
    public static let invitationNotFound = StageError(
        code: 404,
        name: "InvitationNotFoundError",
        message: "Invitation not found",
        cause: "There is no such invitation for this identity, or it is long past",
        solution: "Ask to be invited again",
        status: 404
    )
    /// 409: answered or cancelled before.
    public static let invitationClosed = StageError(
        code: 409,
        name: "InvitationClosedError",
        message: "The invitation is closed",
        cause: "It was answered before, perhaps on another device, or called back",
        solution: "Follow the invitation's events",
        status: 409
    )
    /// 410: expired without an answer.
    public static let invitationExpired = StageError(
        code: 410,
        name: "InvitationExpiredError",
        message: "The invitation has expired",
        cause: "It was not answered in time",
        solution: "Ask to be invited again",
        status: 410
    )
    /// 53006: the room has the maximum number of ringing invitations.
    public static let tooManyInvitations = StageError(
        code: 53006,
        name: "SignalingServerBusyError",
        message: "Too many invitations are open in this room",
        cause: "The room is at its limit of invitations that ring at the same time",
        solution: "Wait for answers, or call some back",
        status: 503,
        isRetryable: true,
        retryAfter: 5
    )
}
