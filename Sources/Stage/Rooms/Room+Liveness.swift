/// Connection states and timeouts of participants.
extension Room {
    /// Returns the index of a participant after verification of its session id.
    ///
    /// - Throws: 53106; 53204 for an unknown one; 53002 for an ended session; 53205 after a join with the same
    ///   identity; 1002 for a removed participant.
    func index(of reference: String, sessionID: String) throws(StageError) -> Int {
        guard status == .inProgress else { throw .roomGone }
        if let index = index(of: reference), participants[index].sessionID == sessionID { return index }
        if let reason = endedSessions.reason(of: sessionID) { throw reason.answer }
        throw index(of: reference) == nil ? .participantNotFound : .sessionTimedOut
    }

    /// Records a client's heartbeat; a lost participant is connected again.
    ///
    /// - Parameter audioLevel: In dBFS; used until the mixer reports a level.
    mutating func heartbeat(at index: Int, audioLevel: Double? = nil, now: Double) {
        let level = audioLevel.flatMap { $0.isFinite ? min(max($0, -127), 0) : nil }
        updateSilently(at: index) { $0.reportedLevel = level ?? $0.reportedLevel }
        recordSignal(at: index, now: now) { $0.heartbeatReceived(at: now) }
    }

    /// Records the opening of the participant's own event stream.
    mutating func streamOpened(at index: Int, now: Double) {
        recordSignal(at: index, now: now) { $0.streamOpened(at: now) }
    }

    /// Records signalling; the first one causes an event, because its existence is stored.
    private mutating func recordSignal(at index: Int, now: Double, _ apply: (inout Liveness) -> Void) {
        let (isFirst, before) = (!participants[index].liveness.hasSession, revision)
        updateSilently(at: index) { participant in
            apply(&participant.liveness)
            if isFirst { participant.beginSession() }
        }
        updateStatus(at: index, now: now)
        guard isFirst, revision == before else { return }
        update(at: index) { _ in }
        emit(.participantUpdated(view(of: participants[index])), at: now)
    }

    /// Records the closing of one of the participant's own event streams.
    mutating func streamClosed(sid: String, at now: Double) {
        guard status == .inProgress, let index = index(of: sid) else { return }
        updateSilently(at: index) { $0.liveness.streamClosed(at: now) }
        updateStatus(at: index, now: now)
    }

    /// Checks all timeouts of the room; called several times a second.
    ///
    /// Events: those of lost or removed participants, expired invitations and raised hands, silent speakers,
    /// `layout.changed` where hosts rotate, and `viewership.updated` when due.
    ///
    /// - Returns: The removed participants.
    mutating func sweep(at now: Double) -> [Participant] {
        guard status == .inProgress else { return [] }
        let before = revision
        updateWithoutLevels(at: now)
        // A pinned host may take the tile of a speaker that fell silent.
        if revision != before { announceLayout(at: now) }
        rotateTiles(at: now)
        expireInvitations(at: now)
        expireHands(at: now)
        var gone: [Participant] = []
        // In reverse order, so that a removal does not shift unchecked indices.
        for index in participants.indices.reversed() {
            let participant = participants[index]
            if case .gone(let reason) = participant.liveness.state(at: now, isHost: participant.isHost) {
                gone.append(leave(at: index, reason: reason, now: now))
            } else {
                updateStatus(at: index, now: now)
            }
        }
        if viewershipThrottle.shouldSend(at: now) { emit(.viewershipUpdated, at: now) }
        return gone
    }

    /// Updates a participant's status from its liveness.
    ///
    /// Events: `participant.updated` for the first signalling, `participant.reconnecting`, `participant.reconnected`.
    mutating func updateStatus(at index: Int, now: Double) {
        let participant = participants[index]
        switch (participant.status, participant.liveness.state(at: now, isHost: participant.isHost)) {
        case (.connecting, .connected):
            update(at: index) { $0.status = .connected }
            if participant.mode == .receiveOnly { viewershipThrottle.changed() }
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

    /// Checks that a participant can send commands now.
    ///
    /// - Throws: 53106, 53204, or 3065 while its connection is lost.
    func requireReady(_ reference: String) throws(StageError) {
        let participant = participants[try existing(reference)]
        if participant.status == .reconnecting, participant.liveness.hasSession { throw .reconnecting }
    }
}

extension LeaveReason {
    /// The error for a client that returns with a session that ended for this reason.
    fileprivate var answer: StageError {
        switch self {
        case .duplicateIdentity: .duplicateIdentity
        case .left: .participantNotFound
        case .removed: .participantRemoved
        case .sessionTimeout, .mediaTimeout, .roomEnded: .sessionTimedOut
        }
    }
}
