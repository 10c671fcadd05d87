import GatewayModel
import Stage

extension InvitationResource {
    init(_ invitation: Invitation) {
        self.init(
            sid: invitation.sid,
            roomSID: invitation.roomSID,
            room: invitation.roomName,
            inviter: invitation.inviter,
            mode: invitation.mode.rawValue,
            state: invitation.state.rawValue,
            invitees: invitation.invitees.map { InviteeResource($0) },
            createdAt: Timestamp(invitation.createdAt),
            expiresAt: Timestamp(invitation.expiresAt)
        )
    }
}

extension InviteeResource {
    init(_ invitee: Invitee) {
        self.init(
            identity: invitee.identity,
            state: invitee.state.rawValue,
            changedAt: invitee.changedAt.map { Timestamp($0) }
        )
    }
}
