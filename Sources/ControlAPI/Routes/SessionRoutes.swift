import FootlightModel
import Hummingbird
import Stage

/// Routes for sessions: heartbeats and reconnects.
struct SessionRoutes: FeatureRoutes {
    let rooms: RoomAccess
    let answers: RoomAnswers

    func add(to api: APIRoutes) {
        api.postUnaudited("rooms/:room/participants/:participant/heartbeat") { call in
            let room = try sessionRoom(call)
            let body = try await call.decode(HeartbeatBody.self)
            try requireLiveness(call.claims, of: call.path("participant"), in: room)
            try rooms.directory.heartbeat(
                room: room.sid,
                participant: call.path("participant"),
                sessionID: body.sessionID,
                audioLevel: body.audioLevel
            )
            return Response(status: .noContent)
        }

        api.command(.post, "rooms/:room/participants/:participant/reconnect") { call in
            let room = try sessionRoom(call)
            let body = try await call.decode(ReconnectBody.self)
            try requireLiveness(call.claims, of: call.path("participant"), in: room)
            let result = try rooms.directory.reconnect(
                room: room.sid,
                participant: call.path("participant"),
                sessionID: body.sessionID
            )
            return try APIResponse.json(answers.joinAnswer(result, for: call))
        }
    }

    private func requireLiveness(
        _ claims: AccessClaims,
        of participant: String,
        in room: RoomSummary
    ) throws(StageError) {
        guard rooms.provesLiveness(claims, of: participant, in: room) else { throw .tokenGrantsInvalid }
    }

    /// Returns the room of a session that the bearer may act for: its own, or any for an operator.
    ///
    /// The stage checks whether the participant exists: it remembers ended sessions.
    private func sessionRoom(_ call: APICall) throws(StageError) -> RoomSummary {
        let room = try rooms.liveRoom(call, isBack: true)
        if call.claims.role == .operator { return room }
        guard call.claims.role == .participant, call.claims.isFor(room) else { throw .tokenGrantsInvalid }
        let found = try? rooms.directory.participant(call.path("participant"), in: room.sid)
        let identity = found?.identity ?? call.claims.identity
        guard identity == call.claims.identity else { throw .tokenGrantsInvalid }
        return room
    }
}
