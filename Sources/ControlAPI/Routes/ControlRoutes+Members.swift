import GatewayModel
import HTTPTypes
import Hummingbird
import Stage
import Viewership

/// Who is in a room: joining, leaving, and looking.
extension ControlRoutes {
    func addMembers(to api: APIRoutes) {
        api.command(.post, "rooms/:room/participants") { call in
            let reference = call.path("room")
            let room = try? directory.summary(of: reference)
            let live = room?.status == .inProgress ? room : nil
            try call.claims.requireJoining(reference, live, as: call.claims.identity)
            let body = try await call.request.decode(JoinBody.self)
            var wish = try joinRequest(body, call, live)
            if let live { wish.anonymousViewers = viewership.report(room: live.name).anonymous }
            try admit()
            // The very run that was looked at: another one of the same name may begin meanwhile.
            let result = try directory.join(room: live?.sid ?? reference, wish)
            await keep(result.room)
            return try Reply.json(answer(result, for: call), status: .created)
        }

        api.read("rooms/:room/participants") { call in
            let room = try readableRoom(call)
            let participants = try participants(of: directory.room(room.sid), wanted: call)
            let page = try PageRequest(call.request).page(of: participants) {
                PageRequest.Mark(at: $0.joinedAt, sid: $0.sid)
            }
            return try Reply.json(
                ParticipantList(participants: page.entries.map { ParticipantResource($0) }, meta: page.meta)
            )
        }

        api.read("rooms/:room/participants/:participant") { call in
            let room = try readableRoom(call)
            let participant = try directory.participant(call.path("participant"), in: room.sid)
            return try Reply.json(ParticipantResource(participant))
        }

        api.command(.patch, "rooms/:room/participants/:participant") { call in
            let room = try readableRoom(call)
            let participant = try commandedParticipant(call, in: room)
            if !call.claims.isSelf(participant, in: room) { try call.claims.require(.participants, in: room) }
            let body = try await call.request.decode(UpdateParticipantBody.self)
            let changed = try directory.describe(
                room: room.sid,
                participant: participant.sid,
                displayName: body.displayName,
                metadata: body.metadata.map { try MetadataText.text(of: $0) },
                avatar: body.avatar.map { (field) throws(StageError) in
                    try field.wrappedValue.map { (id) throws(StageError) in try AssetReference(id, field: "avatar") }
                }
            )
            await keep(room)
            return try Reply.json(ParticipantResource(changed))
        }

        api.command(.delete, "rooms/:room/participants/:participant/quarantine") { call in
            let room = try readableRoom(call)
            try call.claims.require(.participants, in: room)
            let participant = try participant(call, in: room)
            try directory.release(room: room.sid, participant: participant.sid)
            return Response(status: .noContent)
        }

        api.command(.delete, "rooms/:room/participants/:participant") { call in
            let room = try readableRoom(call)
            let participant = try participant(call, in: room)
            let isSelf = call.claims.isSelf(participant, in: room)
            if !isSelf { try call.claims.require(.participants, in: room) }
            let reason = try leaveReason(call, isSelf: isSelf)
            try directory.leave(room: room.sid, participant: participant.sid, reason: reason)
            await keep(room)
            return Response(status: .noContent)
        }
    }

    /// What a join asks for, as far as the token goes.
    ///
    /// - Throws: 20106 for another room, identity or mode than the token names.
    private func joinRequest(_ body: JoinBody, _ call: Call, _ room: RoomSummary?) throws -> JoinRequest {
        let claims = call.claims
        // An operator joins others, so whom is to be said; anybody else joins as the one the token names.
        let identity = body.identity ?? (claims.role == .operator ? "" : claims.identity)
        try claims.requireJoining(call.path("room"), room, as: identity)
        let present = room.flatMap { try? directory.participant(identity, in: $0.sid) }
        if let room, present == nil { try requireAdmission(claims, to: room) }
        let modes = claims.modes(in: room, isHost: present?.mode == .sendAndReceive)
        guard let wanted = try body.mode.map({ try mode(named: $0) }) ?? modes.first else {
            throw StageError.malformed("mode is missing")
        }
        let isAllowed = claims.role == .operator || modes.contains(wanted)
        guard isAllowed || body.invitationSID != nil else {
            throw claims.modes.contains(wanted) ? StageError.speakingNeedsPermission : .tokenGrantsInvalid
        }
        var request = JoinRequest(
            identity: identity,
            displayName: body.displayName,
            mode: wanted,
            avatar: try body.avatar.map { (id) throws(StageError) in try AssetReference(id, field: "avatar") },
            callSettings: try CallSettings(body, limit: claims.maximumBitrate),
            sources: claims.publishable(byInvitation: !isAllowed)
        )
        if let metadata = body.metadata { request.metadata = try MetadataText.text(of: metadata) }
        // An invitation that is not needed is not used up.
        request.invitationSID = isAllowed ? nil : body.invitationSID
        return request
    }

    /// Refuses somebody from outside to whom the type of a room does not open it.
    ///
    /// - Throws: 20106.
    private func requireAdmission(_ claims: AccessClaims, to room: RoomSummary) throws(StageError) {
        guard room.type.needsInvitationToJoin, !claims.has(.participants, in: room) else { return }
        guard try directory.hasAcceptedInvitation(to: room.sid, identity: claims.identity) else {
            throw .joiningNeedsInvitation
        }
    }

    /// What a client gets for joining, or for coming back.
    func answer(_ result: JoinResult, for call: Call) -> JoinAnswer {
        JoinAnswer(
            result,
            room: resource(of: result.room, for: call.request),
            viewerToken: viewership.makeSession(room: result.room.name, identity: result.participant.identity),
            addresses: addresses(for: call.request)
        )
    }

    private func participants(of room: RoomView, wanted call: Call) throws(StageError) -> [ParticipantView] {
        var participants = room.participants
        if let name = call.query("mode") {
            let mode = try mode(named: name)
            participants.removeAll { $0.mode != mode }
        }
        if let name = call.query("status") {
            guard let status = ParticipantStatus(rawValue: name) else {
                throw .invalidParameter("status", "is not a status of participants")
            }
            participants.removeAll { $0.status != status }
        }
        return participants
    }

    private func leaveReason(_ call: Call, isSelf: Bool) throws(StageError) -> LeaveReason {
        switch call.query("reason") {
        case nil: isSelf ? .left : .removed
        case LeaveReason.left.rawValue: .left
        case LeaveReason.removed.rawValue where !isSelf: .removed
        default: throw .invalidParameter("reason", "must be left or removed")
        }
    }
}
