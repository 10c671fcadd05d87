import GatewayModel
import HTTPTypes
import Hummingbird
import Stage

extension ControlRoutes {
    func addParticipants(to api: RouterGroup<BasicRequestContext>) {
        api.post("rooms/:room/participants") { request, context in
            let claims = try await authenticate(request)
            let room = try liveRoom(context, for: claims)
            let body = try await request.decode(JoinBody.self)
            let wish = try joinRequest(body, claims: claims)
            try claims.requireJoining(room, as: wish.identity, in: wish.mode)
            let result = try directory.join(room: room.sid, wish)
            return try Reply.json(answer(result, for: request), status: .created)
        }

        api.get("rooms/:room/participants") { request, context in
            let claims = try await authenticate(request)
            let room = try liveRoom(context, for: claims)
            try claims.requireReading(room)
            let participants = try participants(of: room, wanted: request)
            return try Reply.json(
                ParticipantList(
                    participants: participants.map { ParticipantResource($0) },
                    meta: PageResource(pageSize: participants.count, nextPageToken: nil)
                )
            )
        }

        api.get("rooms/:room/participants/:participant") { request, context in
            let claims = try await authenticate(request)
            let room = try liveRoom(context, for: claims)
            try claims.requireReading(room)
            return try Reply.json(ParticipantResource(participant(context, in: room)))
        }

        api.delete("rooms/:room/participants/:participant") { request, context in
            let claims = try await authenticate(request)
            let room = try liveRoom(context, for: claims)
            try claims.requireReading(room)
            let participant = try participant(context, in: room)
            let isSelf = claims.isSelf(participant, in: room)
            if !isSelf { try claims.require(.participants, in: room) }
            let reason = try leaveReason(request, isSelf: isSelf)
            try directory.leave(room: room.sid, participant: participant.sid, reason: reason)
            return Response(status: .noContent)
        }

        api.post("rooms/:room/participants/:participant/mode") { request, context in
            let claims = try await authenticate(request)
            let room = try liveRoom(context, for: claims)
            try claims.requireReading(room)
            let participant = try participant(context, in: room)
            let body = try await request.decode(ModeBody.self)
            let mode = try mode(named: body.mode)
            try allow(mode, for: participant, in: room, claims: claims)
            let change = try directory.changeMode(room: room.sid, participant: participant.sid, to: mode)
            return try Reply.json(
                ModeAnswer(
                    participant: ParticipantResource(change.participant),
                    ingest: IngestResource(change.credentials, addresses: addresses(for: request))
                )
            )
        }
    }

    private func participants(of room: RoomView, wanted request: Request) throws(StageError) -> [ParticipantView] {
        var participants = room.participants
        if let name = request.uri.queryParameters.get("mode") {
            let mode = try mode(named: name)
            participants.removeAll { $0.mode != mode }
        }
        if let name = request.uri.queryParameters.get("status") {
            guard let status = ParticipantStatus(rawValue: String(name)) else {
                throw .invalidParameter("status", "is not a status of participants")
            }
            participants.removeAll { $0.status != status }
        }
        return participants
    }

    private func joinRequest(_ body: JoinBody, claims: AccessClaims) throws(StageError) -> JoinRequest {
        // An operator joins others, so whom is to be said; anybody else joins as the one the token names.
        let identity = body.identity ?? (claims.role == .operator ? "" : claims.identity)
        let wanted: ParticipantMode
        if let name = body.mode {
            wanted = try mode(named: name)
        } else if let mode = claims.modes.first {
            wanted = mode
        } else {
            throw .malformed("mode is missing")
        }
        return JoinRequest(identity: identity, displayName: body.displayName, mode: wanted)
    }

    private func answer(_ result: JoinResult, for request: Request) -> JoinAnswer {
        let addresses = addresses(for: request)
        return JoinAnswer(
            participant: ParticipantResource(result.participant),
            sessionID: result.sessionID,
            room: resource(of: result.room, for: request),
            participants: result.room.participants.map { ParticipantResource($0) },
            tiles: result.room.tiles.map { TileResource($0) },
            ingest: IngestResource(result.credentials, addresses: addresses),
            playback: PlaybackResource(
                room: result.room.name,
                addresses: addresses,
                viewerToken: result.participant.mode == .receiveOnly
                    ? viewership.makeSession(room: result.room.name, identity: result.participant.identity) : nil
            ),
            eventsURL: addresses.api("rooms/\(result.room.name)/events?participant=\(result.participant.sid)")
        )
    }

    private func participant(
        _ context: BasicRequestContext,
        in room: RoomView
    ) throws(StageError) -> ParticipantView {
        guard let found = context.parameters.get("participant").flatMap({ room.participant($0) }) else {
            throw .participantNotFound
        }
        return found
    }

    /// A participant decides over its own mode as far as its token goes; others may only make it step down.
    private func allow(
        _ mode: ParticipantMode,
        for participant: ParticipantView,
        in room: RoomView,
        claims: AccessClaims
    ) throws(StageError) {
        if claims.isSelf(participant, in: room) {
            guard claims.modes.contains(mode) else { throw .changeModeFailed }
        } else {
            try claims.require(.participants, in: room)
            guard mode != .sendAndReceive || participant.mode == .sendAndReceive else { throw .changeModeFailed }
        }
    }

    private func leaveReason(_ request: Request, isSelf: Bool) throws(StageError) -> LeaveReason {
        switch request.uri.queryParameters.get("reason") {
        case nil: isSelf ? .left : .removed
        case LeaveReason.left.rawValue: .left
        case LeaveReason.removed.rawValue where !isSelf: .removed
        default: throw .invalidParameter("reason", "must be left or removed")
        }
    }

    private func mode(named name: some StringProtocol) throws(StageError) -> ParticipantMode {
        guard let mode = ParticipantMode(wireName: String(name)) else { throw .unknownMode }
        return mode
    }
}
