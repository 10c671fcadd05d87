import FootlightModel
import Stage

/// Performs the actions of the state machine.
extension BroadcastCall {
    func perform(_ action: CallAction) {
        switch action {
        case .emit(let status):
            self.status = status
            statusSubject.send(status)
            if case .lobby = status.phase { break }
            lobbyRoom = nil
        case .fetchRoom(let info): fetchRoom(info)
        case .sendInvitations(let ring, let number): sendInvitations(ring, number)
        case .cancelInvitations(let sids):
            inBackground { client in
                for sid in sids { _ = try? await client.cancelInvitation(sid) }
            }
        case .acceptInvitation(let sid): acceptInvitation(sid)
        case .rejectInvitation(let sid): inBackground { client in _ = try? await client.rejectInvitation(sid) }
        case .sendJoin(let order, let request): sendJoin(order, request)
        case .cancelJoin(let request): cancelJoin(request)
        case .abandonJoin(let request): abandonJoin(request)
        case .applySnapshot: applySnapshot()
        case .publishTracks: publishTracks()
        case .reconnect(let loss, let method, let attempt): reconnect(loss, method, attempt: attempt)
        case .stopReconnecting: stopReconnecting()
        case .deleteParticipant: deleteParticipant()
        case .reset: reset()
        case .stageInvitation(let invitation): stageInvitation = invitation
        case .changeMode(let mode, _): changeModeAsPermitted(mode)
        case .report(let error): report(error)
        }
    }

    /// Reports a failure that does not end the call.
    func report(_ error: StageError) {
        problem = error
        problemSubject.send(error)
    }

    /// Sends a request whose result is ignored.
    private func inBackground(_ body: @escaping @Sendable (BroadcastClient) async -> Void) {
        Task { [client] in await body(client) }
    }

    private func fetchRoom(_ info: LobbyInfo) {
        Task { [weak self, client] in
            do throws(StageError) {
                let room = try await client.room(info.callID)
                guard let self, status.phase == .lobby(info) else { return }
                lobbyRoom = room
                lobbySubject.send(room)
            } catch {
                self?.report(error)
            }
        }
    }

    // MARK: Invitations

    private func sendInvitations(_ ring: CallRing, _ number: Int) {
        let others = ring.invitees.filter { $0 != identity }
        let body = CreateInvitationBody(identities: others, mode: .known(ring.join.mode), timeout: ring.timeout)
        Task { [weak self, client] in
            do throws(StageError) {
                let invitation = try await client.invite(to: ring.join.room, body)
                self?.handle(.invitationsSent(sids: [invitation.sid], ring: number))
            } catch {
                self?.handle(.invitationsRefused(error, ring: number))
            }
        }
    }

    private func acceptInvitation(_ sid: String) {
        Task { [weak self, client] in
            do throws(StageError) {
                try await client.acceptInvitation(sid)
                self?.handle(.acceptConfirmed(sid: sid))
            } catch {
                self?.handle(.acceptRefused(sid: sid, error))
            }
        }
    }

    /// Changes to the mode that an accepted invitation or raised hand permits.
    func changeModeAsPermitted(_ mode: ParticipantMode) {
        Task { [weak self] in
            do throws(StageError) {
                try await self?.changeMode(mode)
                if mode == .sendAndReceive { self?.publishTracks() }
            } catch {
                self?.report(error)
            }
        }
    }

    // MARK: In the room

    private func applySnapshot() {
        // After a resume the stream replays the missed events instead.
        guard let snapshot else { return }
        self.snapshot = nil
        show(snapshot)
    }

    private func publishTracks() {
        guard publishesTracks else { return }
        let preferences: [(TrackName, Bool?)] = [(.mic, callSettings.isAudioOn), (.camera, callSettings.isVideoOn)]
        let defaults = [TrackName.mic: effectiveSettings?.audioOn, .camera: effectiveSettings?.videoOn]
        let wanted = preferences.filter { $0.1 ?? defaults[$0.0].flatMap { $0 } ?? true }.map { $0.0 }
        Task { [weak self] in
            for track in wanted {
                do throws(StageError) {
                    try await self?.publish(track)
                } catch {
                    // The session is over, or the track is published already; neither is reported.
                    if !error.endsSession, error.code != StageError.trackNameDuplicated.code { self?.report(error) }
                }
            }
        }
    }

    private func deleteParticipant() {
        guard let session else { return handle(.leaveAcknowledged) }
        endSession()
        Task { [weak self, client] in
            do throws(StageError) {
                try await client.leave(session.participantSID, in: session.roomSID)
                self?.handle(.leaveAcknowledged)
            } catch {
                // Any refusal means that there is nothing left to leave.
                let isUnreachable = error.code == StageError.callNotConnected.code
                self?.handle(isUnreachable ? .networkUnavailable : .leaveAcknowledged)
            }
        }
    }

    /// Resets the call to the state of a new one.
    private func reset() {
        endSession()
        callSettings = CallSettings()
        snapshot = nil
        stageInvitation = nil
        show(nil)
    }

    /// Closes the connection and releases the state of the session.
    func endSession() {
        heartbeats?.cancel()
        heartbeats = nil
        stopReconnecting()
        connection?.close()
        connection = nil
        session = nil
    }

    /// Replaces the room's state and publishes it.
    func show(_ next: CallRoom?) {
        room = next
        if next == nil {
            ingest = nil
            playback = nil
            effectiveSettings = nil
            effectiveOptions = nil
        }
        participantsSubject.send(next?.participants ?? [])
        audienceSubject.send(next?.audienceCount ?? 0)
    }
}

/// Invitations: incoming calls, and the results of the local participant's own.
extension BroadcastCall {
    /// Starts listening for invitations to this identity in any room, until it is stopped.
    ///
    /// A refusal, such as of the token, ends it and is reported as a problem.
    public func startListening() {
        guard listening == nil else { return }
        let events = client.events(ofIdentity: identity)
        listening = Task { [weak self] in
            do throws(StageError) {
                for try await event in events { self?.handleInvitation(event) }
            } catch {
                guard !Task.isCancelled else { return }
                self?.report(error)
            }
            if !Task.isCancelled { self?.listening = nil }
        }
    }

    /// Stops listening; an invitation that rings continues to ring.
    public func stopListening() {
        listening?.cancel()
        listening = nil
    }

    /// Passes an invitation's event to the state machine.
    func handleInvitation(_ event: EventResource) {
        guard let invitation = event.invitation else { return }
        let identities = event.identities ?? []
        switch event.type.value {
        case .invitationCreated:
            guard identities.contains(identity),
                let received = CallInvitation(invitation, to: spelling(invitation), at: event.ts)
            else { return }
            handle(.invitationReceived(received))
        case .invitationAccepted:
            for who in identities { handle(.invitationAccepted(answer(to: invitation, by: who))) }
        case .invitationRejected:
            for who in identities { handle(.invitationRejected(answer(to: invitation, by: who))) }
        case .invitationCancelled: handle(.invitationCancelled(sid: invitation.sid))
        case .invitationMissed: handle(.invitationMissed(sid: invitation.sid))
        default: break
        }
    }

    private func answer(to invitation: InvitationResource, by who: String) -> InvitationAnswer {
        InvitationAnswer(sid: invitation.sid, room: spelling(invitation), identity: who)
    }

    /// The room of an invitation as this call names it: the app may have used its sid.
    private func spelling(_ invitation: InvitationResource) -> String {
        if let session, session.roomSID == invitation.roomSID { return session.reference }
        if case .outgoing(let ring) = status.phase, ring.join.room == invitation.roomSID { return ring.join.room }
        return invitation.room
    }
}

extension CallInvitation {
    /// Creates an invitation; nil if its mode is unknown, so that no call could accept it.
    ///
    /// - Parameters:
    ///   - room: The room as the call names it.
    ///   - now: The gateway's time.
    fileprivate init?(_ invitation: InvitationResource, to room: String, at now: Timestamp) {
        guard let mode = invitation.mode.value else { return nil }
        self.init(
            sid: invitation.sid,
            room: room,
            inviter: invitation.inviter,
            mode: mode,
            timeout: Int((invitation.expiresAt.seconds - now.seconds).rounded(.up))
        )
    }
}
