import GatewayModel
import HTTPTypes
import Hummingbird
import Stage

extension ControlRoutes {
    func addModes(to api: APIRoutes) {
        api.command(.post, "rooms/:room/participants/:participant/mode") { call in
            let room = try readableRoom(call)
            let participant = try commandedParticipant(call, in: room)
            if !call.claims.isSelf(participant, in: room) { try call.claims.require(.participants, in: room) }
            let body = try await call.request.decode(ModeBody.self)
            let mode = try mode(named: body.mode)
            let needsInvitation = try needsInvitation(call.claims, for: participant, in: room, to: mode)
            let change = try directory.changeMode(
                room: room.sid,
                participant: participant.sid,
                to: mode,
                byInvitation: needsInvitation,
                sources: call.claims.publishable(byInvitation: needsInvitation)
            )
            await keep(room)
            return try Reply.json(
                ModeAnswer(
                    participant: ParticipantResource(change.participant),
                    ingest: IngestResource(change.credentials, addresses: addresses(for: call.request))
                )
            )
        }
    }

    /// Whether a change of mode, by somebody who has a say in it, is allowed by nothing but an accepted invitation.
    ///
    /// A participant decides over its own mode as far as its token goes, and further with an invitation. Others may
    /// only make it step down (V19).
    ///
    /// - Throws: 4065.
    private func needsInvitation(
        _ claims: AccessClaims,
        for participant: ParticipantView,
        in room: RoomSummary,
        to mode: ParticipantMode
    ) throws(StageError) -> Bool {
        if claims.isSelf(participant, in: room) {
            guard participant.mode != mode, !claims.modes(in: room).contains(mode) else { return false }
            try requirePermission(to: mode, claims, in: room)
            return true
        }
        guard mode != .sendAndReceive || participant.mode == .sendAndReceive else { throw .changeModeFailed }
        return false
    }

    /// Says why in a room of its type nobody speaks by a token alone.
    ///
    /// - Throws: 4065 for a token that would do elsewhere, without an invitation or an accepted hand.
    private func requirePermission(
        to mode: ParticipantMode,
        _ claims: AccessClaims,
        in room: RoomSummary
    ) throws(StageError) {
        guard claims.modes.contains(mode) else { return }
        let isPermitted = try directory.invitationPermits(room: room.sid, identity: claims.identity, mode: mode)
        if !isPermitted { throw .speakingNeedsPermission }
    }
}
