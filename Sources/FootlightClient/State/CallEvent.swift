public import Stage

/// An input of a call's state machine: a user command, a gateway event, or the result of an action.
public enum CallEvent: Sendable, Equatable {
    // MARK: Commands

    case enterLobby(LobbyInfo)
    /// Join without an invitation.
    case join(CallJoin)
    /// Invite participants and join when one accepts.
    case ring(CallRing)
    /// Accept the incoming call, or the invitation to the stage.
    case accept
    /// Decline the invitation.
    case reject
    /// Leave, in any phase.
    case hangUp

    // MARK: Invitation events

    case invitationReceived(CallInvitation)
    case invitationAccepted(InvitationAnswer)
    case invitationRejected(InvitationAnswer)
    case invitationCancelled(sid: String)
    /// The invitation timed out.
    case invitationMissed(sid: String)
    case roomEnded(room: String)

    // MARK: Results of actions

    /// Result of `sendInvitations`.
    case invitationsSent(sids: [String], ring: Int)
    /// Result of `sendInvitations`.
    case invitationsRefused(StageError, ring: Int)
    /// Result of `acceptInvitation`.
    case acceptConfirmed(sid: String)
    /// Result of `acceptInvitation`.
    case acceptRefused(sid: String, StageError)
    /// Result of `sendJoin`: the snapshot has arrived. The gateway assigned the mode.
    case joinSucceeded(request: Int, mode: ParticipantMode)
    /// Result of `sendJoin`.
    case joinFailed(request: Int, StageError)
    /// Result of `cancelJoin`, `abandonJoin` and `deleteParticipant`: the gateway has no state of the call any more.
    case leaveAcknowledged
    /// No network is available for leaving.
    case networkUnavailable

    // MARK: Connection events

    case connectionLost(ConnectionLoss)
    /// The event stream is restored, by this method.
    case restored(ReconnectMethod)
    /// The media that this participant publishes is restored.
    case mediaRestored
    /// Result of `reconnect`.
    case reconnectFailed(StageError)
    /// The gateway closed this session.
    case sessionDisconnected(StageError)
    /// A change in the room: participants, tracks, layout. Never changes the phase.
    case roomChanged
    /// The state machine's `deadline` has passed.
    case timePassed
}

/// An action that the owner of a call's state machine performs, in the given order.
public enum CallAction: Sendable, Equatable {
    /// Publish the status to observers; never the same value twice in a row.
    case emit(CallStatus)
    /// Fetch the room and apply its defaults to settings that the user has not changed.
    case fetchRoom(LobbyInfo)
    /// Send invitations, then report under this number.
    case sendInvitations(CallRing, ring: Int)
    /// Cancel invitations that still ring; no response is needed.
    case cancelInvitations(sids: [String])
    /// Accept the invitation, then report.
    case acceptInvitation(sid: String)
    /// Decline the invitation; no response is needed.
    case rejectInvitation(sid: String)
    /// Send a join request with a timeout of 15 s, then report under this number.
    case sendJoin(CallJoin, request: Int)
    /// Cancel the request if it is pending; report once it has certainly failed or succeeded.
    case cancelJoin(request: Int)
    /// Delete the participant that this request created: it succeeded after it was cancelled.
    case abandonJoin(request: Int)
    /// Replace the room's state by the gateway's snapshot; tiles stay in their positions where possible.
    case applySnapshot
    /// Publish the tracks that the call's settings name.
    case publishTracks
    /// Try to restore the connection; `attempt` counts from 1.
    case reconnect(ConnectionLoss, ReconnectMethod, attempt: Int)
    /// Cancel the pending attempts.
    case stopReconnecting
    /// Delete the own participant at the gateway, then report.
    case deleteParticipant
    /// Reset to the call settings of a new client, without participants.
    case reset
    /// Publish the open invitation to the stage; nil without one.
    case stageInvitation(CallInvitation?)
    /// Change the own mode by an accepted invitation.
    case changeMode(ParticipantMode, invitation: String)
    /// Show the user a failure that does not end the call.
    case report(StageError)
}
