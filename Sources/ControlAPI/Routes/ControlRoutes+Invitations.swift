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
                    inviter: inviter(call.claims),
                    identities: body.identities,
                    mode: body.mode.map { (name) throws(StageError) in try mode(named: name) } ?? .sendAndReceive,
                    timeout: body.timeout ?? Self.ringingTime
                )
            )
            await keep(room)
            return try Reply.json(InvitationResource(invitation), status: .created)
        }

        api.read("invitations/:invitation") { call in
            let invitation = try invitation(call)
            guard try call.claims.role == .operator || invitation.concerns(caller(call)) else {
                throw StageError.invitationNotFound
            }
            return try Reply.json(InvitationResource(invitation))
        }

        api.command(.post, "invitations/:invitation/accept") { call in
            let identity = try caller(call)
            return try await answer(directory.acceptInvitation(invitation(call).sid, by: identity))
        }

        api.command(.post, "invitations/:invitation/reject") { call in
            let identity = try caller(call)
            return try await answer(directory.rejectInvitation(invitation(call).sid, by: identity))
        }

        api.command(.post, "invitations/:invitation/cancel") { call in
            let identity = call.claims.role == .operator ? nil : try caller(call)
            return try await answer(directory.cancelInvitation(invitation(call).sid, by: identity))
        }
    }

    /// Seconds an invitation rings unless it says otherwise.
    private static let ringingTime = 30

    /// Whoever runs the show calls others on stage, and so do hosts.
    func requireInviting(_ claims: AccessClaims, to room: RoomSummary) throws(StageError) {
        if claims.has(.participants, in: room) { return }
        guard try bearer(claims, in: room).mode == .sendAndReceive else { throw .tokenGrantsInvalid }
    }

    /// The invitation that the path names.
    ///
    /// - Throws: 404; 20106 for a token of another room, where the same identity may be somebody else.
    private func invitation(_ call: Call) throws(StageError) -> Invitation {
        let invitation = try directory.invitation(call.path("invitation"))
        guard call.claims.isFor(invitation) else { throw .tokenGrantsInvalid }
        return invitation
    }

    /// Whose an invitation is; a colon is in no participant's identity, so that an operator's is nobody else's.
    func inviter(_ claims: AccessClaims) -> String {
        claims.role == .operator ? "operator:\(claims.identity)" : claims.identity
    }

    /// The identity that speaks; only people are called and answer.
    private func caller(_ call: Call) throws(StageError) -> String {
        guard call.claims.role == .participant, NameRule.check(call.claims.identity) == nil else {
            throw .tokenGrantsInvalid
        }
        return call.claims.identity
    }

    private func answer(_ invitation: Invitation) async throws -> Response {
        if let room = try? directory.summary(of: invitation.roomSID) { await keep(room) }
        return try Reply.json(InvitationResource(invitation))
    }
}
