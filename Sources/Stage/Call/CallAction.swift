/// What the owner of a call's machine does next, in the order given.
public enum CallAction: Sendable, Equatable {
    /// Tell everybody who watches; never twice the same in a row.
    case emit(CallStatus)
    /// Fetch the room and take its defaults into settings the user has not touched.
    case fetchRoom(LobbyInfo)
    /// Invite, then report under this number.
    case sendInvitations(CallRing, ring: Int)
    /// Take back invitations that ring in vain; nobody waits for the answer.
    case cancelInvitations(sids: [String])
    /// Accept, then report.
    case acceptInvitation(sid: String)
    /// Decline; nobody waits for the answer.
    case rejectInvitation(sid: String)
    /// Ask to join, within 15 s, then report under this number.
    case sendJoin(CallJoin, request: Int)
    /// Cancel the request if it still runs; report when it is certain that nothing comes of it, or that it succeeded.
    case cancelJoin(request: Int)
    /// Delete the participant that this request made: it succeeded when nobody wanted it any more.
    case abandonJoin(request: Int)
    /// Replace the room's state by what the gateway sent; places of tiles stay where they can.
    case applySnapshot
    /// Publish the tracks the call's settings name.
    case publishTracks
    /// Try to win back what was lost; `attempt` counts from 1.
    case reconnect(ConnectionLoss, ReconnectWay, attempt: Int)
    /// Give up the tries under way.
    case stopReconnecting
    /// Delete our participant at the gateway, then report.
    case deleteParticipant
    /// Back to a new client's call settings, without participants.
    case reset
    /// The invitation to the stage that is open now; nil without one.
    case stageInvitation(CallInvitation?)
    /// Change our mode by virtue of an accepted invitation.
    case changeMode(ParticipantMode, invitation: String)
    /// Tell the user of a failure that ends nothing.
    case report(StageError)
}
