import GatewayModel
import HTTPTypes
import Hummingbird
import Stage

extension ControlRoutes {
    func addInvitations(to api: APIRoutes) {
        api.command(.post, "rooms/:room/invitations") { call in
            let room = try readableRoom(call)
            try requireInviting(call.claims, to: room)
            let body = try await call.request.decode(CreateInvitationBody.self)
            let invitation = try directory.invite(
                room: room.sid,
                InvitationRequest(
                    inviter: call.claims.identity,
                    identities: body.identities,
                    mode: body.mode.map { (name) throws(StageError) in try mode(named: name) } ?? .sendAndReceive,
                    timeout: body.timeout ?? Self.ringingTime
                )
            )
            await keep(room)
            return try Reply.json(InvitationResource(invitation), status: .created)
        }

        api.read("invitations/:invitation") { call in
            let invitation = try directory.invitation(call.path("invitation"))
            guard try call.claims.role == .operator || invitation.concerns(caller(call)) else {
                throw StageError.invitationNotFound
            }
            return try Reply.json(InvitationResource(invitation))
        }

        api.command(.post, "invitations/:invitation/accept") { call in
            try await answer(directory.acceptInvitation(call.path("invitation"), by: caller(call)))
        }

        api.command(.post, "invitations/:invitation/reject") { call in
            try await answer(directory.rejectInvitation(call.path("invitation"), by: caller(call)))
        }

        api.command(.post, "invitations/:invitation/cancel") { call in
            let identity = call.claims.role == .operator ? nil : try caller(call)
            return try await answer(directory.cancelInvitation(call.path("invitation"), by: identity))
        }
    }

    /// Seconds an invitation rings unless it says otherwise.
    private static let ringingTime = 30

    /// Whoever runs the show calls others on stage, and so do hosts.
    private func requireInviting(_ claims: AccessClaims, to room: RoomSummary) throws(StageError) {
        if claims.has(.participants, in: room) { return }
        guard try bearer(claims, in: room).mode == .sendAndReceive else { throw .tokenGrantsInvalid }
    }

    /// The identity that speaks; only people are called and answer.
    private func caller(_ call: Call) throws(StageError) -> String {
        guard call.claims.role == .participant else { throw .tokenGrantsInvalid }
        return call.claims.identity
    }

    private func answer(_ invitation: Invitation) async throws -> Response {
        if let room = try? directory.summary(of: invitation.roomSID) { await keep(room) }
        return try Reply.json(InvitationResource(invitation))
    }
}
