/// Signs of life, and what their absence leads to.
extension Room {
    /// The index of a participant, for somebody who claims to be it by the id of the session.
    ///
    /// - Throws: 53106; 53204 for nobody; 53002 for a session that is over; 53205 when somebody took the identity;
    ///   1002 for somebody who was taken out.
    func index(of reference: String, sessionID: String) throws(StageError) -> Int {
        guard status == .inProgress else { throw .roomGone }
        if let index = index(of: reference), participants[index].sessionID == sessionID { return index }
        if let reason = departed.reason(of: sessionID) { throw reason.answer }
        throw index(of: reference) == nil ? .participantNotFound : .sessionTimedOut
    }

    /// The client says that it is there; brings back one that was lost.
    ///
    /// - Parameter audioLevel: In dBFS; a hint for as long as the mixer does not know better.
    mutating func heartbeat(at index: Int, audioLevel: Double? = nil, now: Double) {
        let level = audioLevel.flatMap { $0.isFinite ? min(max($0, -127), 0) : nil }
        note(at: index) { $0.reportedLevel = level ?? $0.reportedLevel }
        signalled(at: index, now: now) { $0.heard(at: now) }
    }

    /// The participant's own event stream opened.
    mutating func streamOpened(at index: Int, now: Double) {
        signalled(at: index, now: now) { $0.streamOpened(at: now) }
    }

    /// A sign of life by signalling; that there is any at all is stored, so the first one is told in any case.
    private mutating func signalled(at index: Int, now: Double, _ sign: (inout Liveness) -> Void) {
        let (isFirst, before) = (!participants[index].liveness.hasSession, revision)
        note(at: index) { participant in
            sign(&participant.liveness)
            if isFirst { participant.beginSession() }
        }
        settle(at: index, now: now)
        guard isFirst, revision == before else { return }
        update(at: index) { _ in }
        emit(.participantUpdated(view(of: participants[index])), at: now)
    }

    /// One of the participant's own event streams closed.
    mutating func streamClosed(sid: String, at now: Double) {
        guard status == .inProgress, let index = index(of: sid) else { return }
        note(at: index) { $0.liveness.streamClosed(at: now) }
        settle(at: index, now: now)
    }

    /// Looks at every clock of the room; to be called several times a second.
    ///
    /// Events: those of participants that are lost or given up, of invitations and raised hands that nobody answered, of a
    /// speaker who fell silent, `layout.changed` where hosts take turns, and `viewership.updated` when its time has come.
    ///
    /// - Returns: Those who were given up.
    mutating func sweep(at now: Double) -> [Participant] {
        guard status == .inProgress else { return [] }
        let before = revision
        hearNothing(at: now)
        // Who falls silent may give a place back to somebody who is pinned.
        if revision != before { announceLayout(at: now) }
        turnTiles(at: now)
        expireInvitations(at: now)
        expireHands(at: now)
        var gone: [Participant] = []
        // From the end, so that a removal moves nobody who is still to be looked at.
        for index in participants.indices.reversed() {
            let participant = participants[index]
            if case .gone(let reason) = participant.liveness.state(at: now, isHost: participant.isHost) {
                gone.append(leave(at: index, reason: reason, now: now))
            } else {
                settle(at: index, now: now)
            }
        }
        if viewershipPacing.isTime(at: now) { emit(.viewershipUpdated, at: now) }
        return gone
    }

    /// Brings a participant's status in line with its signs of life.
    ///
    /// Events: `participant.updated` for the first sign, `participant.reconnecting`, `participant.reconnected`.
    mutating func settle(at index: Int, now: Double) {
        let participant = participants[index]
        switch (participant.status, participant.liveness.state(at: now, isHost: participant.isHost)) {
        case (.connecting, .connected):
            update(at: index) { $0.status = .connected }
            if participant.mode == .receiveOnly { viewershipPacing.changed() }
            emit(.participantUpdated(view(of: participants[index])), at: now)
        case (.reconnecting, .connected):
            update(at: index) { $0.status = .connected }
            emit(.participantReconnected(view(of: participants[index])), at: now)
        case (.connecting, .reconnecting(let error)), (.connected, .reconnecting(let error)):
            update(at: index) { $0.status = .reconnecting }
            emit(.participantReconnecting(view(of: participants[index]), error), at: now)
        default:
            break
        }
    }

    /// Whether a participant can give commands now.
    ///
    /// - Throws: 53106, 53204, or 3065 while its connection is lost.
    func requireReady(_ reference: String) throws(StageError) {
        let participant = participants[try existing(reference)]
        if participant.status == .reconnecting, participant.liveness.hasSession { throw .reconnecting }
    }
}

extension LeaveReason {
    /// What somebody is told who comes back with a session that ended this way.
    fileprivate var answer: StageError {
        switch self {
        case .duplicateIdentity: .duplicateIdentity
        case .left: .participantNotFound
        case .removed: .participantRemoved
        case .sessionTimeout, .mediaTimeout, .roomEnded: .sessionTimedOut
        }
    }
}
