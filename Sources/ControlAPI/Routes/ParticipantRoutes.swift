import FootlightModel
import HTTPTypes
import Hummingbird
import Stage
import Viewership

/// Routes by which participants join, leave and are changed.
struct ParticipantRoutes: FeatureRoutes {
    let rooms: RoomAccess
    let answers: RoomAnswers
    let viewership: any ViewershipReporting

    func add(to api: APIRoutes) {
        api.command(.post, "rooms/:room/participants") { call in
            let reference = call.path("room")
            let room = try? rooms.directory.summary(of: reference)
            let live = room?.status == .inProgress ? room : nil
            try call.claims.requireJoining(reference, live, as: call.claims.identity)
            let body = try await call.decode(JoinBody.self)
            var join = try joinRequest(body, call, live)
            if let live { join.anonymousViewers = viewership.report(room: live.name).anonymous }
            try rooms.admit()
            if live == nil, rooms.directory.createsRoom(onJoin: reference) { try await rooms.claim(reference) }
            // The room is named by its sid: another one of the same name may have begun since.
            let result = try rooms.directory.join(room: live?.sid ?? reference, join)
            await rooms.save(result.room)
            if live == nil { await rooms.cluster?.announce(result.room.sid) }
            return try APIResponse.json(answers.joinAnswer(result, for: call), status: .created)
        }

        api.read("rooms/:room/participants") { call in
            let room = try rooms.readableRoom(call)
            let participants = try participants(of: rooms.directory.room(room.sid), requestedMode: call)
            let page = try PageRequest(call.request).page(of: participants) {
                PageRequest.Cursor(at: $0.placedAt, sid: $0.view.sid)
            }
            return try APIResponse.json(
                ParticipantList(participants: page.entries.map { ParticipantResource($0.view) }, meta: page.meta)
            )
        }

        api.read("rooms/:room/participants/:participant") { call in
            let room = try rooms.readableRoom(call)
            let participant = try rooms.directory.participant(call.path("participant"), in: room.sid)
            return try APIResponse.json(ParticipantResource(participant))
        }

        api.command(.patch, "rooms/:room/participants/:participant") { call in
            let room = try rooms.readableRoom(call)
            let participant = try rooms.commandedParticipant(call, in: room)
            if !call.claims.isSelf(participant, in: room) { try call.claims.require(.participants, in: room) }
            let body = try await call.decode(UpdateParticipantBody.self)
            let changed = try rooms.directory.updateParticipant(
                room: room.sid,
                participant: participant.sid,
                displayName: body.displayName,
                metadata: body.metadata.map { try MetadataText.text(of: $0) },
                avatar: body.avatar.map { (field) throws(StageError) in
                    try field.wrappedValue.map { (id) throws(StageError) in try AssetReference(id, field: "avatar") }
                }
            )
            await rooms.save(room)
            return try APIResponse.json(ParticipantResource(changed))
        }

        api.command(.delete, "rooms/:room/participants/:participant/quarantine") { call in
            let room = try rooms.readableRoom(call)
            try call.claims.require(.participants, in: room)
            let participant = try rooms.participant(call, in: room)
            try rooms.directory.release(room: room.sid, participant: participant.sid)
            return Response(status: .noContent)
        }

        api.command(.delete, "rooms/:room/participants/:participant") { call in
            let room = try rooms.readableRoom(call)
            let participant = try rooms.participant(call, in: room)
            let isSelf = call.claims.isSelf(participant, in: room)
            if !isSelf { try call.claims.require(.participants, in: room) }
            let reason = try leaveReason(call, isSelf: isSelf)
            try rooms.directory.leave(
                room: room.sid,
                participant: participant.sid,
                reason: reason,
                by: call.claims.identity
            )
            await rooms.save(room)
            return Response(status: .noContent)
        }
    }

    /// Parses a join request within the limits of the token.
    ///
    /// - Throws: 20106 for another room, identity or mode than the token allows.
    private func joinRequest(_ body: JoinBody, _ call: APICall, _ room: RoomSummary?) throws -> JoinRequest {
        let claims = call.claims
        // An operator names the participant; any other bearer joins with the identity of its token.
        let identity = body.identity ?? (claims.role == .operator ? "" : claims.identity)
        try claims.requireJoining(call.path("room"), room, as: identity)
        let present = room.flatMap { try? rooms.directory.participant(identity, in: $0.sid) }
        if let room, present == nil { try requireAdmission(claims, to: room) }
        let modes = claims.modes(in: room, isHost: present?.mode == .sendAndReceive)
        guard let requestedMode = try body.mode.map({ try ParticipantMode.named($0.rawValue) }) ?? modes.first else {
            throw StageError.malformed("mode is missing")
        }
        let isAllowed = claims.role == .operator || modes.contains(requestedMode)
        guard isAllowed || body.invitationSID != nil else {
            throw claims.modes.contains(requestedMode) ? StageError.speakingNeedsPermission : .tokenGrantsInvalid
        }
        var request = JoinRequest(
            identity: identity,
            displayName: body.displayName,
            mode: requestedMode,
            avatar: try body.avatar.map { (id) throws(StageError) in try AssetReference(id, field: "avatar") },
            callSettings: try CallSettings(body, limit: claims.maximumBitrate),
            sources: claims.publishable(byInvitation: !isAllowed)
        )
        if let metadata = body.metadata { request.metadata = try MetadataText.text(of: metadata) }
        // An invitation that is not needed is not consumed.
        request.invitationSID = isAllowed ? nil : body.invitationSID
        return request
    }

    /// Refuses a new participant if the room's type requires an invitation.
    ///
    /// - Throws: 20106.
    private func requireAdmission(_ claims: AccessClaims, to room: RoomSummary) throws(StageError) {
        guard room.type.needsInvitationToJoin, !claims.has(.participants, in: room) else { return }
        guard try rooms.directory.hasAcceptedInvitation(to: room.sid, identity: claims.identity) else {
            throw .joiningNeedsInvitation
        }
    }

    /// A participant with the time at which its place in the list was taken first, which increases along the list.
    private typealias Entry = (view: ParticipantView, placedAt: Double)

    private func participants(of room: RoomView, requestedMode call: APICall) throws(StageError) -> [Entry] {
        var participants: [Entry] = zip(room.arrangedParticipants, room.participants).map { ($0, $1.joinedAt) }
        if let name = call.query("mode") {
            let mode = try ParticipantMode.named(name)
            participants.removeAll { $0.view.mode != mode }
        }
        if let name = call.query("status") {
            guard let status = ParticipantStatus(rawValue: name) else {
                throw .invalidParameter("status", "is not a status of participants")
            }
            participants.removeAll { $0.view.status != status }
        }
        return participants
    }

    private func leaveReason(_ call: APICall, isSelf: Bool) throws(StageError) -> LeaveReason {
        switch call.query("reason") {
        case nil: isSelf ? .left : .removed
        case LeaveReason.left.rawValue: .left
        case LeaveReason.removed.rawValue where !isSelf: .removed
        default: throw .invalidParameter("reason", "must be left or removed")
        }
    }
}

/// The route that changes the mode of a participant.
struct ModeRoutes: FeatureRoutes {
    let rooms: RoomAccess
    let answers: RoomAnswers

    func add(to api: APIRoutes) {
        api.command(.post, "rooms/:room/participants/:participant/mode") { call in
            let room = try rooms.readableRoom(call)
            let participant = try rooms.commandedParticipant(call, in: room)
            if !call.claims.isSelf(participant, in: room) { try call.claims.require(.participants, in: room) }
            let body = try await call.decode(ModeBody.self)
            let mode = try ParticipantMode.named(body.mode.rawValue)
            let needsInvitation = try needsInvitation(call.claims, for: participant, in: room, to: mode)
            let change = try rooms.directory.changeMode(
                room: room.sid,
                participant: participant.sid,
                to: mode,
                byInvitation: needsInvitation,
                sources: call.claims.publishable(byInvitation: needsInvitation)
            )
            await rooms.save(room)
            return try APIResponse.json(
                ModeAnswer(
                    participant: ParticipantResource(change.participant),
                    ingest: change.credentials.map {
                        IngestResource($0, addresses: answers.addresses(for: call.request))
                    }
                )
            )
        }
    }

    /// Whether a change of mode requires an accepted invitation.
    ///
    /// A participant may take the modes of its token, and others with an invitation. Other bearers may only make it
    /// step down (V19).
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

    /// Refuses a mode of the token that the room's type allows only with permission.
    ///
    /// - Throws: 4065 without an invitation or an accepted hand.
    private func requirePermission(
        to mode: ParticipantMode,
        _ claims: AccessClaims,
        in room: RoomSummary
    ) throws(StageError) {
        guard claims.modes.contains(mode) else { return }
        let isPermitted = try rooms.directory.invitationPermits(room: room.sid, identity: claims.identity, mode: mode)
        if !isPermitted { throw .speakingNeedsPermission }
    }
}

/// Routes that pin participants.
struct PinRoutes: FeatureRoutes {
    let rooms: RoomAccess

    func add(to api: APIRoutes) {
        api.command(.put, "rooms/:room/participants/:participant/pin") { call in
            let room = try rooms.readableRoom(call)
            let pinned = try rooms.commandedParticipant(call, in: room)
            let owner = try pinOwner(call.claims, in: room)
            let body = try await call.decode(PinBody.self, whenEmpty: PinBody())
            let type = try body.pinType?.known(in: "pin_type")
            let pin = try rooms.directory.pin(
                room: room.sid,
                participant: pinned.sid,
                type: type ?? .screenAndCamera,
                by: owner
            )
            await rooms.save(room)
            return try APIResponse.json(PinResource(pin))
        }

        api.command(.delete, "rooms/:room/participants/:participant/pin") { call in
            let room = try rooms.readableRoom(call)
            let pinned = try rooms.commandedParticipant(call, in: room)
            try rooms.directory.unpin(room: room.sid, participant: pinned.sid, by: pinOwner(call.claims, in: room))
            await rooms.save(room)
            return Response(status: .noContent)
        }
    }

    /// Returns the owner of a pin: the stage for a bearer with the right over participants, otherwise the bearer's own
    /// view.
    private func pinOwner(_ claims: AccessClaims, in room: RoomSummary) throws(StageError) -> PinOwner {
        claims.has(.participants, in: room) ? .stage : .participant(try rooms.bearer(claims, in: room).sid)
    }
}
