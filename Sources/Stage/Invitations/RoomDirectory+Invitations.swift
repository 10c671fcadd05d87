import Synchronization

/// Calling people into a room or on stage, and their answers.
extension RoomDirectory {
    /// Calls somebody; whether the inviter may is for the caller to know.
    ///
    /// - Throws: 53106; 3073 or 53200-53202 for the request; 53006 when too many ring in the room, or while draining.
    public func invite(room: String, _ request: InvitationRequest) throws(StageError) -> Invitation {
        try change { (state, now) throws(StageError) in
            try state.refuseWhenDraining()
            return try state.change(room) { (room) throws(StageError) in try room.invite(request, at: now) }
        }
    }

    /// An invitation by sid, as long as it is remembered.
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

    /// Accepts, which permits the invited mode once: to a join with the invitation's sid, or to a change of mode.
    ///
    /// - Throws: 404 for a stranger, 409 when it was answered (also on another device) or called back, 410 when too late.
    public func acceptInvitation(_ sid: String, by identity: String) throws(StageError) -> Invitation {
        try changeInvitation(sid) { (room, now) throws(StageError) in
            try room.accept(invitation: sid, by: identity, at: now)
        }
    }

    /// Declines; to do so again is fine.
    ///
    /// - Throws: As `acceptInvitation`.
    public func rejectInvitation(_ sid: String, by identity: String) throws(StageError) -> Invitation {
        try changeInvitation(sid) { (room, now) throws(StageError) in
            try room.reject(invitation: sid, by: identity, at: now)
        }
    }

    /// Calls an invitation back from all who have not answered.
    ///
    /// - Parameter identity: Who wants to, which only the inviter may; nil for an operator.
    /// - Throws: 404 for a stranger, 20106 for one of those called, 409 when nobody is left to answer, 410 when too late.
    public func cancelInvitation(_ sid: String, by identity: String?) throws(StageError) -> Invitation {
        try changeInvitation(sid) { (room, now) throws(StageError) in
            try room.cancel(invitation: sid, by: identity, at: now)
        }
    }

    /// Whether an accepted invitation that is still good lets somebody take a mode.
    ///
    /// Only a look: the join or the change of mode decides, and uses the permission up.
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

    /// Whether somebody has accepted an invitation to a room, as long as that is remembered.
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
    /// The sid of the room an invitation belongs to.
    fileprivate func room(ofInvitation sid: String) throws(StageError) -> String {
        guard let room = rooms.first(where: { $0.value.invitations.invitation(sid) != nil }) else {
            throw .invitationNotFound
        }
        return room.key
    }
}
