import GatewayModel
import Stage

/// Invitations: calls that come in, and what became of one's own.
extension BroadcastCall {
    /// Begins to listen for invitations to this identity, in whatever room; goes on until it is stopped.
    ///
    /// A refusal, such as of the token, ends it and is told as a problem.
    public func startListening() {
        guard listening == nil else { return }
        let events = client.events(ofIdentity: identity)
        listening = Task { [weak self] in
            do throws(StageError) {
                for try await event in events { self?.hear(event) }
            } catch {
                guard !Task.isCancelled else { return }
                self?.report(error)
            }
            if !Task.isCancelled { self?.listening = nil }
        }
    }

    /// Stops listening; what rings goes on ringing.
    public func stopListening() {
        listening?.cancel()
        listening = nil
    }

    /// Tells the machine of an invitation.
    func hear(_ event: EventResource) {
        guard let invitation = event.invitation else { return }
        let identities = event.identities ?? []
        switch StageEvent.Name(rawValue: event.type) {
        case .invitationCreated:
            guard identities.contains(identity) else { return }
            handle(.invitationReceived(CallInvitation(invitation, to: spelling(invitation), at: event.ts)))
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

    /// The room of an invitation as this call names it: the app may have asked for it by its sid.
    private func spelling(_ invitation: InvitationResource) -> String {
        if let session, session.roomSID == invitation.roomSID { return session.reference }
        if case .outgoing(let ring) = status.phase, ring.join.room == invitation.roomSID { return ring.join.room }
        return invitation.room
    }
}

extension CallInvitation {
    /// - Parameters:
    ///   - room: The room as the call names it.
    ///   - now: The gateway's time.
    fileprivate init(_ invitation: InvitationResource, to room: String, at now: Timestamp) {
        self.init(
            sid: invitation.sid,
            room: room,
            inviter: invitation.inviter,
            mode: ParticipantMode(wireName: invitation.mode) ?? .sendAndReceive,
            timeout: Int((invitation.expiresAt.seconds - now.seconds).rounded(.up))
        )
    }
}
