/// What a participant may do, changed while the show runs.
extension Room {
    /// Changes what a participant may do.
    ///
    /// Events: `track.unpublished` for each track of a host that steps down, `hand.lowered` for one who asked to speak
    /// and comes on stage, `participant.mode_changed`,
    /// `viewership.updated` when the audience grows or shrinks, `layout.changed` when a tile changes.
    ///
    /// - Parameters:
    ///   - byInvitation: The mode is allowed by an accepted invitation alone, which is used up.
    ///   - sources: What a new host may publish; nil leaves it as it was, and is everything for one who is invited.
    /// - Throws: 53106, 53204, 4010 for one host too many, 4065 without an invitation that is still good.
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
        dropPins(on: sid, at: now)
        if mode == .sendAndReceive { dropHand(of: sid, reason: .onStage, at: now) }
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
            // Not paced: the numbers of hosts and audience change together.
            viewershipPacing.told(at: now)
            emit(.viewershipUpdated, at: now)
        }
        announceLayout(at: now)
        return participants[index]
    }
}
