import GatewayModel
import Stage

/// Winning back what was lost.
extension BroadcastCall {
    func reconnect(_ loss: ConnectionLoss, _ way: ReconnectWay, attempt: Int) {
        stopReconnecting()
        guard let session else { return handle(.reconnectFailed(.sessionTimedOut)) }
        switch (loss, way) {
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
                beginning: isResumed ? .anything : .snapshot
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

    /// The publisher's connection broke, or its media does not arrive; the call reconnects with 53405.
    ///
    /// When the media is not back within 30 s, the call ends with 53405.
    public func mediaLost() {
        handle(.connectionLost(.media))
    }

    /// The publisher's media flows again.
    public func mediaRestored() {
        handle(.mediaRestored)
    }

    /// Lets the publisher try, then asks whether the gateway has media again.
    private func recoverMedia(_ session: CallSession, attempt: Int) async {
        do throws(StageError) {
            try await recoverMedia?(attempt)
            let participant = try await client.participant(session.participantSID, in: session.roomSID)
            guard !Task.isCancelled, self.session?.sessionID == session.sessionID else { return }
            if participant.status == ParticipantStatus.connected.rawValue {
                handle(.mediaRestored)
            } else {
                handle(.reconnectFailed(.mediaLost))
            }
        } catch {
            guard !Task.isCancelled, self.session?.sessionID == session.sessionID else { return }
            // Whether the session is over, its event stream tells.
            handle(.reconnectFailed(error.isRetryable || error.endsSession ? error : .mediaLost))
        }
    }
}
