/// What happens to a call: wishes of the user, news from the gateway, and what came of the actions.
public enum CallEvent: Sendable, Equatable {
    // MARK: Wishes

    case enterLobby(LobbyInfo)
    /// Join at once.
    case join(CallJoin)
    /// Call somebody, join when one accepts.
    case ring(CallRing)
    /// Take the incoming call, or the invitation to the stage.
    case accept
    /// Decline it.
    case reject
    /// Leave, whatever the phase.
    case hangUp

    // MARK: News of invitations

    case invitationReceived(CallInvitation)
    case invitationAccepted(InvitationAnswer)
    case invitationRejected(InvitationAnswer)
    case invitationCancelled(sid: String)
    /// Nobody answered in time.
    case invitationMissed(sid: String)
    case roomEnded(room: String)

    // MARK: Answers to actions

    /// Answers `sendInvitations`.
    case invitationsSent(sids: [String], ring: Int)
    /// Answers `sendInvitations`.
    case invitationsRefused(StageError, ring: Int)
    /// Answers `acceptInvitation`.
    case acceptConfirmed(sid: String)
    /// Answers `acceptInvitation`.
    case acceptRefused(sid: String, StageError)
    /// Answers `sendJoin`: the snapshot is here. The mode is the one the gateway gave.
    case joinSucceeded(request: Int, mode: ParticipantMode)
    /// Answers `sendJoin`.
    case joinFailed(request: Int, StageError)
    /// Answers `cancelJoin`, `abandonJoin` and `deleteParticipant`: nothing of the call is left at the gateway.
    case leaveAcknowledged
    /// There is no network to leave over.
    case networkUnavailable

    // MARK: News of the connection

    case connectionLost(ConnectionLoss)
    /// The event stream is back, by which way.
    case restored(ReconnectWay)
    /// The media this participant publishes is back.
    case mediaRestored
    /// Answers `reconnect`.
    case reconnectFailed(StageError)
    /// The gateway's last word to this session.
    case sessionDisconnected(StageError)
    /// Something in the room: participants, tracks, layout. Never changes the phase.
    case roomChanged
    /// The machine's `deadline` has come.
    case timePassed
}
