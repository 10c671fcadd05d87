import FootlightModel
import Stage

/// Joining: from the request to the room's snapshot.
extension BroadcastCall {
    func sendJoin(_ order: CallJoin, _ request: Int) {
        let body = JoinBody(
            identity: identity,
            displayName: displayName,
            mode: .known(order.mode),
            metadata: metadata,
            avatar: avatar,
            callSettings: CallSettingsBody(callSettings),
            connectOptions: connectOptions,
            invitationSID: order.invitation
        )
        // Never cancelled: only the response tells whether a request that was sent created a participant.
        Task { [weak self, client] in
            do throws(StageError) {
                let answer = try await client.join(order.room, body)
                self?.joinAnswered(answer, order, request)
            } catch {
                self?.cancelledJoins.remove(request)
                self?.handle(.joinFailed(request: request, error))
            }
        }
    }

    private func joinAnswered(_ answer: JoinAnswer, _ order: CallJoin, _ request: Int) {
        answers[request] = answer
        // The state machine removes the participant.
        if cancelledJoins.remove(request) != nil { return succeeded(answer, request) }
        let session = CallSession(answer, of: order.room)
        do throws(StageError) {
            guard answer.participant.mode.value != nil else {
                throw .unexpectedResponse(status: 201, "participant.mode is unknown")
            }
            let connection = try client.connect(to: session.events, startCondition: .snapshot)
            self.session = session
            follow(connection, for: .join(request))
        } catch {
            joinInterrupted(request, error)
        }
    }

    /// Completes a join whose snapshot has arrived.
    func joinCompleted(_ request: Int) {
        guard let answer = answers.removeValue(forKey: request) else { return }
        ingest = answer.ingest?.rtmp
        playback = answer.playback
        effectiveSettings = answer.callSettings
        effectiveOptions = answer.connectOptions
        succeeded(answer, request)
        if let session { startHeartbeats(session) }
    }

    /// Fails a join whose event stream could not be followed, and removes the participant that it created.
    func joinInterrupted(_ request: Int, _ error: StageError) {
        if let answer = answers.removeValue(forKey: request) {
            // Without a network the gateway removes it after 15 s.
            Task { [client] in try? await client.leave(answer.participant.sid, in: answer.room.sid) }
        }
        session = nil
        handle(.joinFailed(request: request, error))
    }

    func cancelJoin(_ request: Int) {
        guard let answer = answers[request] else {
            cancelledJoins.insert(request)
            return
        }
        // Admitted, and about to follow the event stream.
        endSession()
        succeeded(answer, request)
    }

    func abandonJoin(_ request: Int) {
        guard let answer = answers.removeValue(forKey: request) else { return handle(.leaveAcknowledged) }
        Task { [weak self, client] in
            // If this fails, the participant sends no heartbeats, and the gateway removes it.
            try? await client.leave(answer.participant.sid, in: answer.room.sid)
            self?.handle(.leaveAcknowledged)
        }
    }

    private func succeeded(_ answer: JoinAnswer, _ request: Int) {
        // Only a cancelled join still has an unknown mode, and its participant is removed.
        handle(.joinSucceeded(request: request, mode: answer.participant.mode.value ?? .signallingOnly))
    }
}

extension CallSettingsBody {
    /// Creates a body with the settings that the user has chosen; the gateway decides the others.
    init(_ settings: CallSettings) {
        self.init(
            audioOn: settings.isAudioOn,
            videoOn: settings.isVideoOn,
            speakerOn: settings.isSpeakerOn,
            audioOutputOn: settings.isAudioOutputOn,
            cameraPosition: settings.cameraPosition.map { .known($0) }
        )
    }
}

/// The event stream of a session, and its heartbeats.
extension BroadcastCall {
    /// Follows a connection until it ends, replacing the previous one.
    func follow(_ connection: EventConnection, for purpose: StreamPurpose) {
        self.connection?.close()
        self.connection = connection
        let signals = connection.signals
        let id = ObjectIdentifier(connection)
        Task { [weak self] in
            var isBegun = false
            for await signal in signals {
                // A newer connection has replaced it, or the session is over.
                guard let self, self.connection.map({ ObjectIdentifier($0) }) == id else { return }
                switch signal {
                case .began where purpose == .resume: isBegun = true
                case .began: break
                case .event(let event) where isBegun: self.apply(event)
                case .event(let event): isBegun = self.applyFirst(event, for: purpose)
                case .ended(let error): self.ended(error, isBegun: isBegun, purpose)
                }
                if case .began = signal, isBegun { self.handle(.restored(.resume)) }
            }
        }
    }

    /// Handles the events before the snapshot.
    ///
    /// - Returns: Whether the event is the snapshot.
    private func applyFirst(_ event: EventResource, for purpose: StreamPurpose) -> Bool {
        if event.type == .sessionDisconnected {
            connection?.close()
            connection = nil
            ended(event.error.map { StageError($0) } ?? .callConnectionLost, isBegun: false, purpose)
            return false
        }
        guard let snapshot = CallRoom(snapshot: event) else { return false }
        self.snapshot = snapshot
        if case .join(let request) = purpose { joinCompleted(request) } else { handle(.restored(.rejoin)) }
        eventSubject.send(event)
        return true
    }

    private func ended(_ error: StageError, isBegun: Bool, _ purpose: StreamPurpose) {
        connection = nil
        if isBegun {
            handle(.connectionLost(.signalling))
        } else if case .join(let request) = purpose {
            joinInterrupted(request, error)
        } else {
            // In an established call, an unreachable gateway is reported as the connection that was lost.
            let isUnreachable = error.code == StageError.callNotConnected.code
            handle(.reconnectFailed(isUnreachable ? .callConnectionLost : error))
        }
    }

    // MARK: Events

    func apply(_ event: EventResource) {
        guard var room else { return }
        switch event.type.value {
        case .heartbeat: return
        case .sessionDisconnected:
            let error = event.error.map { StageError($0) } ?? .callConnectionLost
            if error.code == StageError.callConnectionLost.code {
                // Disconnected for reading too slowly; the rest of this connection is dropped.
                connection?.close()
                connection = nil
            }
            eventSubject.send(event)
            return handle(.sessionDisconnected(error))
        case .roomSnapshot: break
        // Replayed events are applied once.
        default: guard event.rev > room.revision else { return }
        }
        let before = room
        room.apply(event)
        self.room = room
        if room.participants != before.participants { participantsSubject.send(room.participants) }
        if room.audienceCount != before.audienceCount { audienceSubject.send(room.audienceCount) }
        eventSubject.send(event)
        updateCall(event)
    }

    /// Applies a participant from a response, before its event arrives.
    func apply(_ participant: ParticipantResource) {
        guard var room else { return }
        let before = room.participants
        room.apply(participant)
        self.room = room
        if room.participants != before { participantsSubject.send(room.participants) }
    }

    /// Passes an event that concerns the call itself to the state machine.
    private func updateCall(_ event: EventResource) {
        let isOwn = event.participant?.sid == session?.participantSID
        switch event.type.value {
        case .participantReconnecting where isOwn && event.code == ConnectionLoss.media.rawValue:
            handle(.connectionLost(.media))
        case .participantReconnected where isOwn:
            handle(.mediaRestored)
        case .participantModeChanged where isOwn:
            // Reads the current state: an event may be older than the response to a later change.
            if localParticipant?.isHost != true { ingest = nil }
            handle(.roomChanged)
        case .roomEnded: handle(.roomEnded(room: session?.reference ?? ""))
        case .customEvent:
            if let custom = event.custom { customEventSubject.sendOnce(custom) }
        case .handAccepted where event.hand?.participantSID == session?.participantSID:
            changeModeAsPermitted(.sendAndReceive)
        case .invitationCreated, .invitationAccepted, .invitationRejected, .invitationCancelled, .invitationMissed:
            handleInvitation(event)
        default: handle(.roomChanged)
        }
    }

    // MARK: Heartbeats

    func startHeartbeats(_ session: CallSession) {
        heartbeats?.cancel()
        lastHeartbeat = clock.now()
        heartbeats = Task { [weak self, clock] in
            while !Task.isCancelled {
                do {
                    try await clock.sleep(session.heartbeatInterval)
                } catch {
                    return
                }
                await self?.sendHeartbeat(session)
            }
        }
    }

    private func sendHeartbeat(_ session: CallSession) async {
        do throws(StageError) {
            try await client.heartbeat(
                session.participantSID,
                in: session.roomSID,
                sessionID: session.sessionID,
                audioLevel: audioLevel
            )
            lastHeartbeat = clock.now()
        } catch {
            guard self.session?.sessionID == session.sessionID, !Task.isCancelled else { return }
            if error.endsSession || error.code == StageError.participantNotFound.code {
                sessionEnded(session, error)
            } else if status.phase == .joined, clock.now() - lastHeartbeat >= client.limits.silence {
                // The gateway has timed out the session by now, even if events still arrive.
                lastHeartbeat = clock.now()
                connection?.close()
                connection = nil
                handle(.connectionLost(.signalling))
            }
        }
    }

    /// Handles a response that reports the end of the session.
    ///
    /// After a room has ended, a request in flight only reports that there is none. The event stream has the reason but
    /// may be slower, so while it is connected its event is awaited first.
    func sessionEnded(_ session: CallSession, _ answer: StageError) {
        // The error of a command suggests how to connect.
        let error = answer.code == StageError.roomNotFound.code ? .roomGone : answer
        guard self.session?.sessionID == session.sessionID else { return }
        guard connection != nil else { return handle(.sessionDisconnected(error)) }
        Task { [weak self, clock, client] in
            // Not cancelled by anything; at worst the response is handled a little early.
            try? await clock.sleep(client.limits.endReasonTimeout)
            guard let self, self.session?.sessionID == session.sessionID else { return }
            self.handle(.sessionDisconnected(error))
        }
    }
}

/// Reconnecting the event stream and the media.
extension BroadcastCall {
    func reconnect(_ loss: ConnectionLoss, _ method: ReconnectMethod, attempt: Int) {
        stopReconnecting()
        guard let session else { return handle(.reconnectFailed(.sessionTimedOut)) }
        switch (loss, method) {
        case (.media, _): reconnecting = Task { [weak self] in await self?.recoverMedia(session, attempt: attempt) }
        case (.signalling, .resume): open(session, for: .resume)
        case (.signalling, .rejoin): reconnecting = Task { [weak self] in await self?.rejoin(session) }
        }
    }

    func stopReconnecting() {
        reconnecting?.cancel()
        reconnecting = nil
    }

    private func open(_ session: CallSession, for purpose: StreamPurpose) {
        do throws(StageError) {
            let isResumed = purpose == .resume
            let connection = try client.connect(
                to: session.events,
                after: isResumed ? room?.revision : nil,
                startCondition: isResumed ? .anything : .snapshot
            )
            follow(connection, for: purpose)
        } catch {
            handle(.reconnectFailed(error))
        }
    }

    private func rejoin(_ session: CallSession) async {
        do throws(StageError) {
            let answer = try await client.reconnect(
                session.participantSID,
                in: session.roomSID,
                sessionID: session.sessionID,
                lastEventID: room?.revision
            )
            guard !Task.isCancelled, self.session?.sessionID == session.sessionID else { return }
            playback = answer.playback
            effectiveSettings = answer.callSettings
            open(session, for: .rejoin)
        } catch {
            guard !Task.isCancelled, self.session?.sessionID == session.sessionID else { return }
            let isUnreachable = error.code == StageError.callNotConnected.code
            handle(.reconnectFailed(isUnreachable ? .callConnectionLost : error))
        }
    }

    // MARK: Media

    /// Reports that the publisher's connection is lost, or its media does not arrive; the call reconnects with 53405.
    ///
    /// If the media is not restored within 30 s, the call ends with 53405.
    public func mediaLost() {
        handle(.connectionLost(.media))
    }

    /// Reports that the publisher's media is restored.
    public func mediaRestored() {
        handle(.mediaRestored)
    }

    /// Lets the publisher reconnect, then asks whether the gateway receives media again.
    private func recoverMedia(_ session: CallSession, attempt: Int) async {
        do throws(StageError) {
            try await recoverMedia?(attempt)
            let participant = try await client.participant(session.participantSID, in: session.roomSID)
            guard !Task.isCancelled, self.session?.sessionID == session.sessionID else { return }
            if participant.status == .connected {
                handle(.mediaRestored)
            } else {
                handle(.reconnectFailed(.mediaLost))
            }
        } catch {
            guard !Task.isCancelled, self.session?.sessionID == session.sessionID else { return }
            // The event stream reports whether the session is over.
            handle(.reconnectFailed(error.isRetryable || error.endsSession ? error : .mediaLost))
        }
    }
}

/// The session of a participant in a room, as the gateway created it.
struct CallSession: Sendable {
    /// The room as the app named it, by name or sid.
    let reference: String
    /// The room's sid, which identifies this run of it.
    let roomSID: String
    let participantSID: String
    let sessionID: String
    /// The interval between two heartbeats.
    let heartbeatInterval: Duration

    init(_ answer: JoinAnswer, of reference: String) {
        self.reference = reference
        roomSID = answer.room.sid
        participantSID = answer.participant.sid
        sessionID = answer.sessionID
        heartbeatInterval = .seconds(min(max(answer.heartbeatInterval, 1), 3600))
    }

    var events: EventSource {
        .session(room: roomSID, participant: participantSID, sessionID: sessionID)
    }
}

/// The purpose of a new event connection.
enum StreamPurpose: Sendable, Equatable {
    /// Completes the join with this request number.
    case join(Int)
    /// Resumes the stream after the last event.
    case resume
    /// Begins the stream again with a snapshot.
    case rejoin
}
