/// Who comes and who goes.
extension Room {
    /// Lets somebody in; a known identity takes the place of its older self.
    ///
    /// Events: `participant.left` (duplicate identity only), `participant.joined`, `layout.changed` when a tile changes.
    ///
    /// - Parameter limits: What a host may send at most, whatever it asks for.
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
            // How somebody is mixed was decided for the person, not for one connection.
            participant.sound = participants[older].sound
            let keepsPlace = participants[older].isHost && participant.isHost
            let gone = depart(
                at: older,
                reason: .duplicateIdentity,
                successor: keepsPlace ? participant.sid : nil,
                now: now
            )
            if gone.mode == .receiveOnly || participant.mode == .receiveOnly { viewershipPacing.changed() }
        } else if participant.mode == .receiveOnly {
            viewershipPacing.changed()
        }
        insert(participant)
        arrangeLayout()
        emit(.participantJoined(view(of: participant)), at: now)
        announceLayout(at: now)
        return participant
    }

    /// Lets somebody go.
    ///
    /// Events: `track.unpublished` for each track, `hand.lowered` for one who asked to speak, `participant.left`,
    /// `layout.changed` when a tile changes.
    mutating func leave(_ reference: String, reason: LeaveReason, at now: Double) throws(StageError) -> Participant {
        leave(at: try existing(reference), reason: reason, now: now)
    }

    mutating func leave(at index: Int, reason: LeaveReason, now: Double) -> Participant {
        let gone = depart(at: index, reason: reason, successor: nil, now: now)
        if gone.mode == .receiveOnly { viewershipPacing.changed() }
        announceLayout(at: now)
        return gone
    }

    /// Changes what others see of a participant; nil leaves a thing as it is, a blank name becomes the identity.
    ///
    /// Events: `participant.updated`, and `layout.changed` when a tile changes; none when nothing changes.
    ///
    /// - Parameter avatar: Nil inside for none any more.
    ///
    /// - Throws: 53106, 53204, or 3073 naming the field.
    mutating func describe(
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
        let picture = avatar ?? old.avatar
        guard name != old.displayName || text != old.metadata || picture != old.avatar else { return old }
        update(at: index) { participant in
            participant.displayName = name
            participant.metadata = text
            participant.avatar = picture
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
            // Those who are not there yet have their places already.
            guard counts.receiveOnly + anonymousViewers < most else { throw .roomFull }
        }
        let otherHosts = counts.hosts - (older == .sendAndReceive ? 1 : 0)
        if mode == .sendAndReceive, otherHosts >= settings.maximumHosts { throw .tooManyHosts }
    }

    private mutating func useInvitation(of request: JoinRequest, at now: Double) throws(StageError) {
        guard let wanted = request.invitationSID else { return }
        let permission = invitations.permission(of: request.identity, for: request.mode, sid: wanted, at: now)
        guard let permission else { throw .changeModeFailed }
        invitations.use(permission, by: request.identity)
    }

    /// Takes somebody out.
    ///
    /// - Parameter successor: The sid of the same person's newer self, which gets the place and the pins and must be
    ///   inserted right after.
    private mutating func depart(at index: Int, reason: LeaveReason, successor: String?, now: Double) -> Participant {
        let sid = participants[index].sid
        unpublishAll(at: index, reason: .left, now: now)
        stopSpeaking(sid, at: now)
        dropHand(of: sid, reason: .left, at: now)
        if let successor {
            pins.replace(sid, with: successor)
            roomLayout.replace(sid, with: successor)
        } else {
            dropPins(of: sid, at: now)
        }
        var gone = remove(at: index, now: now)
        gone.gate.open([])
        departed.add(gone.sessionID, reason)
        gone.status = .disconnected
        gone.revision += 1
        var view = view(of: gone)
        view.position = nil
        emit(.participantLeft(view, reason), at: now)
        return gone
    }
}

extension Participant {
    /// Somebody who joins; what the call settings leave out of the show is withdrawn from its beginning.
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
