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
            let result = try directory.reconnect(
                room: room.sid,
                participant: call.path("participant"),
                sessionID: body.sessionID
            )
            return try Reply.json(answer(result, for: call))
        }
    }

    /// The room of a session, which only its participant and operators may speak for.
    ///
    /// Whether there is such a participant at all is the stage's to say: it remembers the sessions that ended.
    private func sessionRoom(_ call: Call) throws(StageError) -> RoomSummary {
        let room = try liveRoom(call)
        if call.claims.role == .operator { return room }
        guard call.claims.role == .participant, call.claims.isFor(room) else { throw .tokenGrantsInvalid }
        let found = try? directory.participant(call.path("participant"), in: room.sid)
        let identity = found?.identity ?? call.claims.identity
        guard identity == call.claims.identity else { throw .tokenGrantsInvalid }
        return room
    }
}
