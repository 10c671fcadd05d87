import GatewayModel
import Stage

/// The event stream of a session, and the signs of life.
extension BroadcastCall {
    /// Follows a connection to its end, in place of the one before.
    func follow(_ connection: EventConnection, for purpose: StreamPurpose) {
        self.connection?.close()
        self.connection = connection
        let signals = connection.signals
        let id = ObjectIdentifier(connection)
        Task { [weak self] in
            var isBegun = false
            for await signal in signals {
                // A newer connection took its place, or the session is over.
                guard let self, self.connection.map({ ObjectIdentifier($0) }) == id else { return }
                switch signal {
                case .began where purpose == .resume: isBegun = true
                case .began: break
                case .event(let event) where isBegun: self.take(event)
                case .event(let event): isBegun = self.takeFirst(event, for: purpose)
                case .ended(let error): self.ended(error, isBegun: isBegun, purpose)
                }
                if case .began = signal, isBegun { self.handle(.restored(.resume)) }
            }
        }
    }

    /// Takes what comes before the snapshot.
    ///
    /// - Returns: Whether this is it.
    private func takeFirst(_ event: EventResource, for purpose: StreamPurpose) -> Bool {
        if event.type == StageEvent.Name.sessionDisconnected.rawValue {
            connection?.close()
            connection = nil
            ended(event.error.map { StageError($0) } ?? .callConnectionLost, isBegun: false, purpose)
            return false
        }
        guard let snapshot = CallRoom(snapshot: event) else { return false }
        self.snapshot = snapshot
        if case .join(let request) = purpose { joinCompleted(request) } else { handle(.restored(.rejoin)) }
        eventNews.send(event)
        return true
    }

    private func ended(_ error: StageError, isBegun: Bool, _ purpose: StreamPurpose) {
        connection = nil
        if isBegun {
            handle(.connectionLost(.signalling))
        } else if case .join(let request) = purpose {
            joinBroke(request, error)
        } else {
            // In a call that has stood, what cannot be reached is what was lost.
            let isUnreachable = error.code == StageError.callNotConnected.code
            handle(.reconnectFailed(isUnreachable ? .callConnectionLost : error))
        }
    }

    // MARK: Events

    func take(_ event: EventResource) {
        guard var room else { return }
        switch StageEvent.Name(rawValue: event.type) {
        case .heartbeat: return
        case .sessionDisconnected:
            let error = event.error.map { StageError($0) } ?? .callConnectionLost
            if error.code == StageError.callConnectionLost.code {
                // Cut off for being slow; the rest of this connection is not waited for.
                connection?.close()
                connection = nil
            }
            eventNews.send(event)
            return handle(.sessionDisconnected(error))
        case .roomSnapshot: break
        // What is replayed counts once.
        default: guard event.rev > room.revision else { return }
        }
        let before = room
        room.take(event)
        self.room = room
        if room.participants != before.participants { participantNews.send(room.participants) }
        if room.audienceCount != before.audienceCount { audienceNews.send(room.audienceCount) }
        eventNews.send(event)
        tell(event)
    }

    /// Takes what an answer says of a participant, before its event comes.
    func take(_ participant: ParticipantResource) {
        guard var room else { return }
        let before = room.participants
        room.take(participant)
        self.room = room
        if room.participants != before { participantNews.send(room.participants) }
    }

    /// Tells the machine what concerns the call itself.
    private func tell(_ event: EventResource) {
        let isOwn = event.participant?.sid == session?.participantSID
        switch StageEvent.Name(rawValue: event.type) {
        case .participantReconnecting where isOwn && event.code == ConnectionLoss.media.rawValue:
            handle(.connectionLost(.media))
        case .participantReconnected where isOwn:
            handle(.mediaRestored)
        case .participantModeChanged where isOwn:
            // As is known by now: an event may be behind what the answer to a later change has told.
            if localParticipant?.isHost != true { ingest = nil }
            handle(.roomChanged)
        case .roomEnded: handle(.roomEnded(room: session?.reference ?? ""))
        case .customEvent:
            if let custom = event.custom { customNews.sendOnce(custom) }
        case .handAccepted where event.hand?.participantSID == session?.participantSID:
            changeModeAsPermitted(.sendAndReceive)
        case .invitationCreated, .invitationAccepted, .invitationRejected, .invitationCancelled, .invitationMissed:
            hear(event)
        default: handle(.roomChanged)
        }
    }

    // MARK: Signs of life

    func startHeartbeats(_ session: CallSession) {
        heartbeats?.cancel()
        lastBeat = clock.now()
        heartbeats = Task { [weak self, clock] in
            while !Task.isCancelled {
                do {
                    try await clock.sleep(session.heartbeatInterval)
                } catch {
                    return
                }
                await self?.beat(session)
            }
        }
    }

    private func beat(_ session: CallSession) async {
        do throws(StageError) {
            try await client.heartbeat(
                session.participantSID,
                in: session.roomSID,
                sessionID: session.sessionID,
                audioLevel: audioLevel
            )
            lastBeat = clock.now()
        } catch {
            guard self.session?.sessionID == session.sessionID, !Task.isCancelled else { return }
            if error.endsSession || error.code == StageError.participantNotFound.code {
                sessionEnded(session, error)
            } else if status.phase == .joined, clock.now() - lastBeat >= client.limits.silence {
                // The gateway has given us up by now, whatever still comes from it.
                lastBeat = clock.now()
                connection?.close()
                connection = nil
                handle(.connectionLost(.signalling))
            }
        }
    }

    /// Takes an answer that says the session is over.
    ///
    /// Of a room that ended a request on its way learns only that there is none. The event stream has the reason, and
    /// may be slower than the answer; so as long as one stands, it has the first word.
    func sessionEnded(_ session: CallSession, _ answer: StageError) {
        // A command is told what to do to connect.
        let error = answer.code == StageError.roomNotFound.code ? .roomGone : answer
        guard self.session?.sessionID == session.sessionID else { return }
        guard connection != nil else { return handle(.sessionDisconnected(error)) }
        Task { [weak self, clock, client] in
            // Cut short by nothing; at worst the answer counts a little early.
            try? await clock.sleep(client.limits.lastWord)
            guard let self, self.session?.sessionID == session.sessionID else { return }
            self.handle(.sessionDisconnected(error))
        }
    }
}
