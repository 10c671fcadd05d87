import GatewayModel
import HTTPTypes
import Hummingbird
import Stage

/// Signs of life, and coming back.
extension ControlRoutes {
    func addSessions(to api: APIRoutes) {
        api.sign("rooms/:room/participants/:participant/heartbeat") { call in
            let room = try sessionRoom(call)
            let body = try await call.request.decode(HeartbeatBody.self)
            try requireSign(call.claims, of: call.path("participant"), in: room)
            try directory.heartbeat(
                room: room.sid,
                participant: call.path("participant"),
                sessionID: body.sessionID,
                audioLevel: body.audioLevel
            )
            return Response(status: .noContent)
        }

        api.command(.post, "rooms/:room/participants/:participant/reconnect") { call in
            let room = try sessionRoom(call)
            let body = try await call.request.decode(ReconnectBody.self)
            try requireSign(call.claims, of: call.path("participant"), in: room)
            let result = try directory.reconnect(
                room: room.sid,
                participant: call.path("participant"),
                sessionID: body.sessionID
            )
            return try Reply.json(answer(result, for: call))
        }
    }

    /// Whether what the bearer does in a session says that the participant is alive.
    ///
    /// An operator may keep the session of somebody it let in. But a host may be an encoder and nothing else, and is not
    /// to wait for signs of life from then on because an operator looked after it once.
    func givesSign(_ claims: AccessClaims, of participant: String, in room: RoomSummary) -> Bool {
        guard claims.role == .operator else { return true }
        // Of somebody who is gone the stage says what became of the session.
        guard let found = try? directory.participant(participant, in: room.sid) else { return true }
        return found.mode != .sendAndReceive || directory.hasSession(room: room.sid, participant: found.sid)
    }

    private func requireSign(
        _ claims: AccessClaims,
        of participant: String,
        in room: RoomSummary
    ) throws(StageError) {
        guard givesSign(claims, of: participant, in: room) else { throw .tokenGrantsInvalid }
    }

    /// The room of a session, which only its participant and operators may speak for.
    ///
    /// Whether there is such a participant at all is the stage's to say: it remembers the sessions that ended.
    private func sessionRoom(_ call: Call) throws(StageError) -> RoomSummary {
        let room = try liveRoom(call, isBack: true)
        if call.claims.role == .operator { return room }
        guard call.claims.role == .participant, call.claims.isFor(room) else { throw .tokenGrantsInvalid }
        let found = try? directory.participant(call.path("participant"), in: room.sid)
        let identity = found?.identity ?? call.claims.identity
        guard identity == call.claims.identity else { throw .tokenGrantsInvalid }
        return room
    }
}
