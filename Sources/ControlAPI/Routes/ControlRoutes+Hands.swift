import GatewayModel
import HTTPTypes
import Hummingbird
import Stage

/// Asking to speak: somebody in the audience raises a hand, and those who may invite answer.
extension ControlRoutes {
    func addHands(to api: APIRoutes) {
        api.command(.post, "rooms/:room/hands") { call in
            let room = try readableRoom(call)
            let participant = try bearer(call.claims, in: room)
            let body = try await call.request.decode(RaiseHandBody.self, whenEmpty: RaiseHandBody())
            let raised = try directory.raiseHand(
                room: room.sid,
                participant: participant.sid,
                timeout: body.timeout ?? Hand.usualTimeout
            )
            if raised.isNew { await keep(room) }
            return try Reply.json(HandResource(raised.hand), status: raised.isNew ? .created : .ok)
        }

        api.read("rooms/:room/hands") { call in
            let room = try readableRoom(call)
            let hands = try directory.hands(in: room.sid)
            let page = try PageRequest(call.request).page(of: hands) { PageRequest.Mark(at: $0.raisedAt, sid: $0.sid) }
            return try Reply.json(HandList(hands: page.entries.map { HandResource($0) }, meta: page.meta))
        }

        api.command(.delete, "rooms/:room/hands/:hand") { call in
            let room = try readableRoom(call)
            let reference = call.path("hand")
            guard let own = try ownHand(call.claims, reference, in: room) else {
                try requireInviting(call.claims, to: room)
                try directory.lowerHand(room: room.sid, hand: reference)
                await keep(room)
                return Response(status: .noContent)
            }
            // One's own may be down already.
            guard case .up(let sid) = own else { return Response(status: .noContent) }
            try directory.lowerHand(room: room.sid, hand: sid)
            await keep(room)
            return Response(status: .noContent)
        }

        api.command(.post, "rooms/:room/hands/:hand/accept") { call in
            let room = try readableRoom(call)
            try requireInviting(call.claims, to: room)
            let hand = try directory.acceptHand(
                room: room.sid,
                hand: call.path("hand"),
                by: inviter(call.claims)
            )
            await keep(room)
            return try Reply.json(HandResource(hand))
        }

        api.command(.post, "rooms/:room/hands/:hand/reject") { call in
            let room = try readableRoom(call)
            try requireInviting(call.claims, to: room)
            let hand = try directory.rejectHand(room: room.sid, hand: call.path("hand"))
            await keep(room)
            return try Reply.json(HandResource(hand))
        }
    }

    private enum OwnHand {
        case up(sid: String)
        case down
    }

    /// The bearer's own hand, if that is what the path names; nil for that of somebody else.
    ///
    /// - Throws: 3065 for a bearer whose connection is lost.
    private func ownHand(
        _ claims: AccessClaims,
        _ reference: String,
        in room: RoomSummary
    ) throws(StageError) -> OwnHand? {
        guard let own = try? directory.participant(claims.identity, in: room.sid), claims.isSelf(own, in: room) else {
            return nil
        }
        let hand = try directory.hands(in: room.sid).first { $0.participantSID == own.sid }
        guard [own.sid, own.identity, hand?.sid].contains(reference) else { return nil }
        try directory.requireReady(room: room.sid, participant: own.sid)
        return hand.map { .up(sid: $0.sid) } ?? .down
    }
}
