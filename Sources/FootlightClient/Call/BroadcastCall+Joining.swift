import GatewayModel
import Stage

/// From the request to join to the room's snapshot.
extension BroadcastCall {
    func sendJoin(_ order: CallJoin, _ request: Int) {
        let body = JoinBody(
            identity: identity,
            displayName: displayName,
            mode: order.mode.rawValue,
            metadata: metadata,
            avatar: avatar,
            callSettings: CallSettingsBody(callSettings),
            connectOptions: connectOptions,
            invitationSID: order.invitation
        )
        // Never cancelled: whether a request that was sent makes a participant, only its answer tells.
        Task { [weak self, client] in
            do throws(StageError) {
                let answer = try await client.join(order.room, body)
                self?.joinAnswered(answer, order, request)
            } catch {
                self?.unwanted.remove(request)
                self?.handle(.joinFailed(request: request, error))
            }
        }
    }

    private func joinAnswered(_ answer: JoinAnswer, _ order: CallJoin, _ request: Int) {
        answers[request] = answer
        // The machine takes it down.
        if unwanted.remove(request) != nil { return succeeded(answer, request) }
        let session = CallSession(answer, of: order.room)
        do throws(StageError) {
            let connection = try client.connect(to: session.events, beginning: .snapshot)
            self.session = session
            follow(connection, for: .join(request))
        } catch {
            joinBroke(request, error)
        }
    }

    /// The snapshot of a join is here.
    func joinCompleted(_ request: Int) {
        guard let answer = answers.removeValue(forKey: request) else { return }
        ingest = answer.ingest?.rtmp
        playback = answer.playback
        effectiveSettings = answer.callSettings
        effectiveOptions = answer.connectOptions
        succeeded(answer, request)
        if let session { startHeartbeats(session) }
    }

    /// The gateway let us in, but its events do not come: what was made is taken down, and the try has failed.
    func joinBroke(_ request: Int, _ error: StageError) {
        if let answer = answers.removeValue(forKey: request) {
            // Without network it goes by itself, after 15 s.
            Task { [client] in try? await client.leave(answer.participant.sid, in: answer.room.sid) }
        }
        session = nil
        handle(.joinFailed(request: request, error))
    }

    func cancelJoin(_ request: Int) {
        guard let answer = answers[request] else {
            unwanted.insert(request)
            return
        }
        // Let in, and about to follow.
        endSession()
        succeeded(answer, request)
    }

    func abandonJoin(_ request: Int) {
        guard let answer = answers.removeValue(forKey: request) else { return handle(.leaveAcknowledged) }
        Task { [weak self, client] in
            // Where this fails, nobody gives signs of life, and the gateway lets the participant go.
            try? await client.leave(answer.participant.sid, in: answer.room.sid)
            self?.handle(.leaveAcknowledged)
        }
    }

    private func succeeded(_ answer: JoinAnswer, _ request: Int) {
        let mode = ParticipantMode(wireName: answer.participant.mode) ?? .signallingOnly
        handle(.joinSucceeded(request: request, mode: mode))
    }
}

extension CallSettingsBody {
    /// What the user has chosen; the rest is left to the gateway.
    init(_ settings: CallSettings) {
        self.init(
            audioOn: settings.isAudioOn,
            videoOn: settings.isVideoOn,
            speakerOn: settings.isSpeakerOn,
            audioOutputOn: settings.isAudioOutputOn,
            cameraPosition: settings.cameraPosition?.rawValue
        )
    }
}
