extension Room {
    /// Lets somebody in; a known identity takes the place of its older self.
    ///
    /// Events: `participant.left` (duplicate identity only), `participant.joined`, `layout.changed` when a tile changes.
    mutating func join(_ request: JoinRequest, at now: Double) throws(StageError) -> Participant {
        guard status == .inProgress else { throw .roomNotFound }
        try request.validate()
        let older = participants.firstIndex { $0.identity == request.identity }
        try admit(request.mode, inPlaceOf: older.map { participants[$0].mode })

        let participant = Participant(
            sid: StageIdentifier.make("PA"),
            sessionID: StageIdentifier.make("SE"),
            identity: request.identity,
            displayName: request.effectiveDisplayName,
            mode: request.mode,
            // Only a host has media of its own to wait for.
            status: request.mode == .sendAndReceive ? .connecting : .connected,
            joinedAt: now
        )
        if let older {
            let keepsPlace = participants[older].isHost && participant.isHost
            let gone = depart(at: older, reason: .duplicateIdentity, keepsPlace: keepsPlace, now: now)
            insert(participant, inPlaceOf: keepsPlace ? gone.sid : nil)
        } else {
            insert(participant)
        }
        emit(.participantJoined(view(of: participant)), at: now)
        announceLayout(at: now)
        return participant
    }

    /// Lets somebody go.
    ///
    /// Events: `track.unpublished` for each track, `participant.left`, `layout.changed` when a tile changes.
    mutating func leave(_ reference: String, reason: LeaveReason, at now: Double) throws(StageError) -> Participant {
        guard status == .inProgress else { throw .roomNotFound }
        guard let index = index(of: reference) else { throw .participantNotFound }
        let gone = depart(at: index, reason: reason, keepsPlace: false, now: now)
        announceLayout(at: now)
        return gone
    }

    /// Changes what a participant may do.
    ///
    /// Events: `track.unpublished` for each track of a host that steps down, `participant.mode_changed`,
    /// `layout.changed` when a tile changes.
    mutating func changeMode(
        _ reference: String,
        to mode: ParticipantMode,
        at now: Double
    ) throws(StageError) -> Participant {
        guard status == .inProgress else { throw .roomNotFound }
        guard let index = index(of: reference) else { throw .participantNotFound }
        let old = participants[index].mode
        guard old != mode else { return participants[index] }
        if mode == .sendAndReceive, counts.hosts >= settings.maximumHosts { throw .tooManyHosts }
        unpublishAll(at: index, reason: .modeChanged, now: now)
        setMode(mode, at: index)
        update(at: index) { participant in
            participant.connections.removeAll()
            participant.status = mode == .sendAndReceive ? .connecting : .connected
        }
        let participant = participants[index]
        emit(.participantModeChanged(view(of: participant), from: old), at: now)
        announceLayout(at: now)
        return participant
    }

    private func admit(_ mode: ParticipantMode, inPlaceOf older: ParticipantMode?) throws(StageError) {
        if older == nil, counts.participants >= settings.maximumParticipants { throw .roomFull }
        let otherHosts = counts.hosts - (older == .sendAndReceive ? 1 : 0)
        if mode == .sendAndReceive, otherHosts >= settings.maximumHosts { throw .tooManyHosts }
    }

    private mutating func depart(at index: Int, reason: LeaveReason, keepsPlace: Bool, now: Double) -> Participant {
        unpublishAll(at: index, reason: .left, now: now)
        var gone = remove(at: index, keepsPlace: keepsPlace, now: now)
        gone.status = .disconnected
        gone.revision += 1
        emit(.participantLeft(gone.view(position: nil), reason), at: now)
        return gone
    }
}
