import GatewayModel
import Stage

/// What the machine wants done.
extension BroadcastCall {
    func perform(_ action: CallAction) {
        switch action {
        case .emit(let status):
            self.status = status
            statusNews.send(status)
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
        case .reconnect(let loss, let way, let attempt): reconnect(loss, way, attempt: attempt)
        case .stopReconnecting: stopReconnecting()
        case .deleteParticipant: deleteParticipant()
        case .reset: reset()
        case .stageInvitation(let invitation): stageInvitation = invitation
        case .changeMode(let mode, _): changeModeAsPermitted(mode)
        case .report(let error): report(error)
        }
    }

    /// Tells of a failure that ends nothing.
    func report(_ error: StageError) {
        problem = error
        problemNews.send(error)
    }

    /// Asks for something whose answer nobody waits for.
    private func inBackground(_ body: @escaping @Sendable (BroadcastClient) async -> Void) {
        Task { [client] in await body(client) }
    }

    private func fetchRoom(_ info: LobbyInfo) {
        Task { [weak self, client] in
            do throws(StageError) {
                let room = try await client.room(info.callID)
                guard let self, status.phase == .lobby(info) else { return }
                lobbyRoom = room
                lobbyNews.send(room)
            } catch {
                self?.report(error)
            }
        }
    }

    // MARK: Invitations

    private func sendInvitations(_ ring: CallRing, _ number: Int) {
        let others = ring.invitees.filter { $0 != identity }
        let body = CreateInvitationBody(identities: others, mode: ring.join.mode.rawValue, timeout: ring.timeout)
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

    /// Takes the mode that an accepted invitation or an accepted hand permits.
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
        // Taken up where it broke off, the stream tells what was missed by itself.
        guard let snapshot else { return }
        self.snapshot = nil
        show(snapshot)
    }

    private func publishTracks() {
        guard publishesTracks else { return }
        let wishes: [(TrackName, Bool?)] = [(.mic, callSettings.isAudioOn), (.camera, callSettings.isVideoOn)]
        let defaults = [TrackName.mic: effectiveSettings?.audioOn, .camera: effectiveSettings?.videoOn]
        let wanted = wishes.filter { $0.1 ?? defaults[$0.0].flatMap { $0 } ?? true }.map { $0.0 }
        Task { [weak self] in
            for track in wanted {
                do throws(StageError) {
                    try await self?.publish(track)
                } catch {
                    // The session is over by now, or the track is there already; neither is news.
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
                // Any refusal says that nothing is left to leave.
                let isUnreachable = error.code == StageError.callNotConnected.code
                self?.handle(isUnreachable ? .networkUnavailable : .leaveAcknowledged)
            }
        }
    }

    /// Back to a new client's call.
    private func reset() {
        endSession()
        callSettings = CallSettings()
        snapshot = nil
        stageInvitation = nil
        show(nil)
    }

    /// Lets go of the connection and all that belongs to the session.
    func endSession() {
        heartbeats?.cancel()
        heartbeats = nil
        stopReconnecting()
        connection?.close()
        connection = nil
        session = nil
    }

    /// Replaces what is known of the room.
    func show(_ next: CallRoom?) {
        room = next
        if next == nil {
            ingest = nil
            playback = nil
            effectiveSettings = nil
            effectiveOptions = nil
        }
        participantNews.send(next?.participants ?? [])
        audienceNews.send(next?.audienceCount ?? 0)
    }
}
