import FootlightModel
import HTTPTypes
import Hummingbird
import Stage

/// Routes that invite identities to a room, and answer invitations.
struct InvitationRoutes: FeatureRoutes {
    let rooms: RoomAccess

    func add(to api: APIRoutes) {
        api.command(.post, "rooms/:room/invitations") { call in
            let room = try rooms.readableRoom(call)
            try rooms.requireInviting(call.claims, to: room)
            let body = try await call.decode(CreateInvitationBody.self)
            let invitation = try rooms.directory.invite(
                room: room.sid,
                InvitationRequest(
                    inviter: call.claims.inviter,
                    identities: body.identities,
                    mode: body.mode.map { (name) throws(StageError) in try ParticipantMode.named(name.rawValue) }
                        ?? .sendAndReceive,
                    timeout: body.timeout ?? Self.defaultRingTimeout
                )
            )
            await rooms.save(room)
            var answer = InvitationResource(invitation)
            answer.unreachable = rooms.directory.unreachable(invitation.invitees.map(\.identity), in: room.sid)
            return try APIResponse.json(answer, status: .created)
        }

        api.read("invitations/:invitation") { call in
            let invitation = try invitation(call)
            guard try call.claims.role == .operator || invitation.concerns(caller(call)) else {
                throw StageError.invitationNotFound
            }
            return try APIResponse.json(InvitationResource(invitation))
        }

        api.command(.post, "invitations/:invitation/accept") { call in
            let identity = try caller(call)
            return try await answer(rooms.directory.acceptInvitation(invitation(call).sid, by: identity))
        }

        api.command(.post, "invitations/:invitation/reject") { call in
            let identity = try caller(call)
            return try await answer(rooms.directory.rejectInvitation(invitation(call).sid, by: identity))
        }

        api.command(.post, "invitations/:invitation/cancel") { call in
            let identity = call.claims.role == .operator ? nil : try caller(call)
            return try await answer(rooms.directory.cancelInvitation(invitation(call).sid, by: identity))
        }
    }

    /// The default time in seconds for which an invitation rings.
    private static let defaultRingTimeout = 30

    /// Returns the invitation that the path names.
    ///
    /// - Throws: 404; 20106 for a token of another room, where the same identity may be another person.
    private func invitation(_ call: APICall) throws(StageError) -> Invitation {
        let invitation = try rooms.directory.invitation(call.path("invitation"))
        guard call.claims.isFor(invitation) else { throw .tokenGrantsInvalid }
        return invitation
    }

    /// Returns the participant identity that answers an invitation; other roles are neither invited nor answer.
    private func caller(_ call: APICall) throws(StageError) -> String {
        guard call.claims.role == .participant, NameRule.check(call.claims.identity) == nil else {
            throw .tokenGrantsInvalid
        }
        return call.claims.identity
    }

    private func answer(_ invitation: Invitation) async throws -> Response {
        if let room = try? rooms.directory.summary(of: invitation.roomSID) { await rooms.save(room) }
        return try APIResponse.json(InvitationResource(invitation))
    }
}

/// Routes for raised hands: a viewer asks to speak, and those who may invite accept or reject.
struct HandRoutes: FeatureRoutes {
    let rooms: RoomAccess

    func add(to api: APIRoutes) {
        api.command(.post, "rooms/:room/hands") { call in
            let room = try rooms.readableRoom(call)
            let participant = try rooms.bearer(call.claims, in: room)
            let body = try await call.decode(RaiseHandBody.self, whenEmpty: RaiseHandBody())
            let raised = try rooms.directory.raiseHand(
                room: room.sid,
                participant: participant.sid,
                timeout: body.timeout ?? Hand.defaultTimeout
            )
            if raised.isNew { await rooms.save(room) }
            return try APIResponse.json(HandResource(raised.hand), status: raised.isNew ? .created : .ok)
        }

        api.read("rooms/:room/hands") { call in
            let room = try rooms.readableRoom(call)
            let hands = try rooms.directory.hands(in: room.sid)
            let page = try PageRequest(call.request).page(of: hands) {
                PageRequest.Cursor(at: $0.raisedAt, sid: $0.sid)
            }
            return try APIResponse.json(HandList(hands: page.entries.map { HandResource($0) }, meta: page.meta))
        }

        api.command(.delete, "rooms/:room/hands/:hand") { call in
            let room = try rooms.readableRoom(call)
            let reference = call.path("hand")
            guard let own = try ownHand(call.claims, reference, in: room) else {
                try rooms.requireInviting(call.claims, to: room)
                try rooms.directory.lowerHand(room: room.sid, hand: reference)
                await rooms.save(room)
                return Response(status: .noContent)
            }
            // The bearer's own hand may be lowered already.
            guard case .up(let sid) = own else { return Response(status: .noContent) }
            try rooms.directory.lowerHand(room: room.sid, hand: sid)
            await rooms.save(room)
            return Response(status: .noContent)
        }

        api.command(.post, "rooms/:room/hands/:hand/accept") { call in
            let room = try rooms.readableRoom(call)
            try rooms.requireInviting(call.claims, to: room)
            let hand = try rooms.directory.acceptHand(
                room: room.sid,
                hand: call.path("hand"),
                by: call.claims.inviter
            )
            await rooms.save(room)
            return try APIResponse.json(HandResource(hand))
        }

        api.command(.post, "rooms/:room/hands/:hand/reject") { call in
            let room = try rooms.readableRoom(call)
            try rooms.requireInviting(call.claims, to: room)
            let hand = try rooms.directory.rejectHand(room: room.sid, hand: call.path("hand"))
            await rooms.save(room)
            return try APIResponse.json(HandResource(hand))
        }
    }

    private enum OwnHand {
        case up(sid: String)
        case down
    }

    /// Returns the bearer's own hand if the path names it; nil for the hand of another participant.
    ///
    /// - Throws: 3065 for a bearer whose connection is lost.
    private func ownHand(
        _ claims: AccessClaims,
        _ reference: String,
        in room: RoomSummary
    ) throws(StageError) -> OwnHand? {
        guard let own = try? rooms.directory.participant(claims.identity, in: room.sid), claims.isSelf(own, in: room)
        else {
            return nil
        }
        let hand = try rooms.directory.hands(in: room.sid).first { $0.participantSID == own.sid }
        guard [own.sid, own.identity, hand?.sid].contains(reference) else { return nil }
        try rooms.directory.requireReady(room: room.sid, participant: own.sid)
        return hand.map { .up(sid: $0.sid) } ?? .down
    }
}

extension AccessClaims {
    /// The owner of a new invitation; the colon cannot occur in a participant's identity.
    fileprivate var inviter: String { role == .operator ? "operator:\(identity)" : identity }
}
