/// Joining and leaving.
extension Room {
    /// Adds a participant; a known identity replaces its older session.
    ///
    /// Events: `participant.left` (duplicate identity only), `participant.joined`, `layout.changed` when a tile
    /// changes.
    ///
    /// - Parameter limits: The limits of what a host may send.
    mutating func join(
        _ request: JoinRequest,
        limits: HostLimits = HostLimits(),
        at now: Double
    ) throws(StageError) -> Participant {
        guard status == .inProgress else { throw .roomNotFound }
        try request.validate()
        let older = index(ofIdentity: request.identity)
        let mode = older.map { participants[$0].mode }
        try admit(request.mode, inPlaceOf: mode, anonymousViewers: request.anonymousViewers)
        try useInvitation(of: request, at: now)

        var request = request
        request.callSettings = request.callSettings.filled(from: settings.callSettings)
        var participant = Participant(request, limits: limits, at: now)
        if let older {
            // The audio mix settings belong to the person, not to one connection.
            participant.sound = participants[older].sound
            let keepsPlace = participants[older].isHost && participant.isHost
            let gone = removeParticipant(
                at: older,
                reason: .duplicateIdentity,
                successor: keepsPlace ? participant.sid : nil,
                now: now
            )
            if gone.mode == .receiveOnly || participant.mode == .receiveOnly { viewershipThrottle.changed() }
        } else if participant.mode == .receiveOnly {
            viewershipThrottle.changed()
        }
        insert(participant)
        arrangeLayout()
        emit(.participantJoined(view(of: participant)), at: now)
        announceLayout(at: now)
        return participant
    }

    /// Removes a participant.
    ///
    /// Events: `track.unpublished` for each track, `hand.lowered` for a raised hand, `participant.left`,
    /// `layout.changed` when a tile changes.
    mutating func leave(_ reference: String, reason: LeaveReason, at now: Double) throws(StageError) -> Participant {
        leave(at: try existing(reference), reason: reason, now: now)
    }

    mutating func leave(at index: Int, reason: LeaveReason, now: Double) -> Participant {
        let gone = removeParticipant(at: index, reason: reason, successor: nil, now: now)
        if gone.mode == .receiveOnly { viewershipThrottle.changed() }
        announceLayout(at: now)
        return gone
    }

    /// Changes a participant's public data; nil leaves a value unchanged, a blank name becomes the identity.
    ///
    /// Events: `participant.updated`, and `layout.changed` when a tile changes; none when nothing changes.
    ///
    /// - Parameter avatar: The inner nil removes the avatar.
    ///
    /// - Throws: 53106, 53204, or 3073 naming the field.
    mutating func updateParticipant(
        _ reference: String,
        displayName: String?,
        metadata: String?,
        avatar: AssetReference?? = .none,
        at now: Double
    ) throws(StageError) -> Participant {
        let index = try existing(reference)
        try JoinRequest.check(displayName: displayName)
        try JoinRequest.check(metadata: metadata)
        let old = participants[index]
        let name =
            displayName.map { JoinRequest.effectiveDisplayName($0, identity: old.identity) } ?? old.displayName
        let text = metadata ?? old.metadata
        let image = avatar ?? old.avatar
        guard name != old.displayName || text != old.metadata || image != old.avatar else { return old }
        update(at: index) { participant in
            participant.displayName = name
            participant.metadata = text
            participant.avatar = image
        }
        emit(.participantUpdated(view(of: participants[index])), at: now)
        announceLayout(at: now)
        return participants[index]
    }

    private func admit(
        _ mode: ParticipantMode,
        inPlaceOf older: ParticipantMode?,
        anonymousViewers: Int
    ) throws(StageError) {
        if older == nil, counts.participants >= settings.maximumParticipants { throw .roomFull }
        if mode == .receiveOnly, older != .receiveOnly, let most = settings.maximumAudience {
            // Participants that are not connected yet count as present.
            guard counts.receiveOnly + anonymousViewers < most else { throw .roomFull }
        }
        let otherHosts = counts.hosts - (older == .sendAndReceive ? 1 : 0)
        if mode == .sendAndReceive, otherHosts >= settings.maximumHosts { throw .tooManyHosts }
    }

    private mutating func useInvitation(of request: JoinRequest, at now: Double) throws(StageError) {
        guard let requested = request.invitationSID else { return }
        let permission = invitations.permission(of: request.identity, for: request.mode, sid: requested, at: now)
        guard let permission else { throw .changeModeFailed }
        invitations.use(permission, by: request.identity)
    }

    /// Removes a participant.
    ///
    /// - Parameter successor: The sid of the same person's new session, which gets the tile and the pins and must be
    ///   inserted right after.
    private mutating func removeParticipant(
        at index: Int,
        reason: LeaveReason,
        successor: String?,
        now: Double
    ) -> Participant {
        let sid = participants[index].sid
        unpublishAll(at: index, reason: .left, now: now)
        stopSpeaking(sid, at: now)
        removeHand(of: sid, reason: .left, at: now)
        if let successor {
            pins.replace(sid, with: successor)
            roomLayout.replace(sid, with: successor)
        } else {
            removePins(of: sid, at: now)
        }
        var gone = remove(at: index, now: now)
        gone.gate.open([])
        endedSessions.add(gone.sessionID, reason)
        gone.status = .disconnected
        gone.revision += 1
        var view = view(of: gone)
        view.position = nil
        emit(.participantLeft(view, reason), at: now)
        return gone
    }
}

extension Participant {
    /// Creates a joining participant; tracks that the call settings switch off are unpublished from the start.
    fileprivate init(_ request: JoinRequest, limits: HostLimits, at now: Double) {
        self.init(
            sid: StageIdentifier.make("PA"),
            sessionID: StageIdentifier.make("SE"),
            identity: request.identity,
            displayName: request.effectiveDisplayName,
            metadata: request.metadata,
            avatar: request.avatar,
            callSettings: request.callSettings.effective(within: limits),
            sources: request.sources,
            mode: request.mode,
            joinedAt: now,
            liveness: Liveness(at: now)
        )
        beginTracks()
    }
}

/// Changes of mode.
extension Room {
    /// Changes a participant's mode.
    ///
    /// Events: `track.unpublished` for each track of a former host, `hand.lowered` for the raised hand of a new host,
    /// `participant.mode_changed`, `viewership.updated` when the audience changes, `layout.changed` when a tile
    /// changes.
    ///
    /// - Parameters:
    ///   - byInvitation: An accepted invitation alone permits the mode, and is used up.
    ///   - sources: The tracks that a new host may publish; nil leaves them unchanged, and permits all for an invited
    ///     one.
    /// - Throws: 53106, 53204, 4010 at the maximum of hosts, 4065 without a valid invitation.
    mutating func changeMode(
        _ reference: String,
        to mode: ParticipantMode,
        byInvitation: Bool = false,
        sources: Set<TrackName>? = nil,
        at now: Double
    ) throws(StageError) -> Participant {
        let index = try existing(reference)
        let (sid, identity, old) = (participants[index].sid, participants[index].identity, participants[index].mode)
        guard old != mode else { return participants[index] }
        if mode == .sendAndReceive, counts.hosts >= settings.maximumHosts { throw .tooManyHosts }
        if byInvitation {
            guard let permission = invitations.permission(of: identity, for: mode, at: now) else {
                throw .changeModeFailed
            }
            invitations.use(permission, by: identity)
        }

        unpublishAll(at: index, reason: .modeChanged, now: now)
        stopSpeaking(sid, at: now)
        removePins(on: sid, at: now)
        if mode == .sendAndReceive { removeHand(of: sid, reason: .onStage, at: now) }
        setMode(mode, at: index)
        update(at: index) { participant in
            participant.modeSince = now
            participant.flows.removeAll()
            if participant.isHost {
                participant.sources = sources ?? (byInvitation ? Set(TrackName.allCases) : participant.sources)
            }
            participant.beginTracks()
            participant.liveness.restart(at: now)
            participant.status = participant.liveness.status(at: now, isHost: participant.isHost)
        }
        arrangeLayout()
        emit(.participantModeChanged(view(of: participants[index]), from: old), at: now)
        if old == .receiveOnly || mode == .receiveOnly {
            // Not throttled: the numbers of hosts and audience change together.
            viewershipThrottle.markSent(at: now)
            emit(.viewershipUpdated, at: now)
        }
        announceLayout(at: now)
        return participants[index]
    }
}
