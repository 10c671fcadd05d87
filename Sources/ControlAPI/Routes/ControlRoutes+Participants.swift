import FootlightModel
import HTTPTypes
import Hummingbird
import Stage
import Viewership

/// Routes for participants: join, leave, list and update.
extension ControlRoutes {
    func addParticipants(to api: APIRoutes) {
        api.command(.post, "rooms/:room/participants") { call in
            let reference = call.path("room")
            let room = try? directory.summary(of: reference)
            let live = room?.status == .inProgress ? room : nil
            try call.claims.requireJoining(reference, live, as: call.claims.identity)
            let body = try await call.request.decode(JoinBody.self)
            var join = try joinRequest(body, call, live)
            if let live { join.anonymousViewers = viewership.report(room: live.name).anonymous }
            try admit()
            // The room is named by its sid: another one of the same name may have begun since.
            let result = try directory.join(room: live?.sid ?? reference, join)
            await save(result.room)
            return try APIResponse.json(answer(result, for: call), status: .created)
        }

        api.read("rooms/:room/participants") { call in
            let room = try readableRoom(call)
            let participants = try participants(of: directory.room(room.sid), requestedMode: call)
            let page = try PageRequest(call.request).page(of: participants) {
                PageRequest.Cursor(at: $0.joinedAt, sid: $0.sid)
            }
            return try APIResponse.json(
                ParticipantList(participants: page.entries.map { ParticipantResource($0) }, meta: page.meta)
            )
        }

        api.read("rooms/:room/participants/:participant") { call in
            let room = try readableRoom(call)
            let participant = try directory.participant(call.path("participant"), in: room.sid)
            return try APIResponse.json(ParticipantResource(participant))
        }

        api.command(.patch, "rooms/:room/participants/:participant") { call in
            let room = try readableRoom(call)
            let participant = try commandedParticipant(call, in: room)
            if !call.claims.isSelf(participant, in: room) { try call.claims.require(.participants, in: room) }
            let body = try await call.request.decode(UpdateParticipantBody.self)
            let changed = try directory.updateParticipant(
                room: room.sid,
                participant: participant.sid,
                displayName: body.displayName,
                metadata: body.metadata.map { try MetadataText.text(of: $0) },
                avatar: body.avatar.map { (field) throws(StageError) in
                    try field.wrappedValue.map { (id) throws(StageError) in try AssetReference(id, field: "avatar") }
                }
            )
            await save(room)
            return try APIResponse.json(ParticipantResource(changed))
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
            await save(room)
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
        let present = room.flatMap { try? directory.participant(identity, in: $0.sid) }
        if let room, present == nil { try requireAdmission(claims, to: room) }
        let modes = claims.modes(in: room, isHost: present?.mode == .sendAndReceive)
        guard let requestedMode = try body.mode.map({ try mode(named: $0.rawValue) }) ?? modes.first else {
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
        guard try directory.hasAcceptedInvitation(to: room.sid, identity: claims.identity) else {
            throw .joiningNeedsInvitation
        }
    }

    /// Returns the response to a join or a reconnect.
    func answer(_ result: JoinResult, for call: APICall) -> JoinAnswer {
        JoinAnswer(
            result,
            room: resource(of: result.room, for: call.request),
            viewerToken: viewership.makeSession(room: result.room.name, identity: result.participant.identity),
            addresses: addresses(for: call.request)
        )
    }

    private func participants(of room: RoomView, requestedMode call: APICall) throws(StageError) -> [ParticipantView] {
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

    private func leaveReason(_ call: APICall, isSelf: Bool) throws(StageError) -> LeaveReason {
        switch call.query("reason") {
        case nil: isSelf ? .left : .removed
        case LeaveReason.left.rawValue: .left
        case LeaveReason.removed.rawValue where !isSelf: .removed
        default: throw .invalidParameter("reason", "must be left or removed")
        }
    }
}

extension ControlRoutes {
    func addModes(to api: APIRoutes) {
        api.command(.post, "rooms/:room/participants/:participant/mode") { call in
            let room = try readableRoom(call)
            let participant = try commandedParticipant(call, in: room)
            if !call.claims.isSelf(participant, in: room) { try call.claims.require(.participants, in: room) }
            let body = try await call.request.decode(ModeBody.self)
            let mode = try mode(named: body.mode.rawValue)
            let needsInvitation = try needsInvitation(call.claims, for: participant, in: room, to: mode)
            let change = try directory.changeMode(
                room: room.sid,
                participant: participant.sid,
                to: mode,
                byInvitation: needsInvitation,
                sources: call.claims.publishable(byInvitation: needsInvitation)
            )
            await save(room)
            return try APIResponse.json(
                ModeAnswer(
                    participant: ParticipantResource(change.participant),
                    ingest: IngestResource(change.credentials, addresses: addresses(for: call.request))
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
        let isPermitted = try directory.invitationPermits(room: room.sid, identity: claims.identity, mode: mode)
        if !isPermitted { throw .speakingNeedsPermission }
    }
}

/// Routes for sessions: heartbeats and reconnects.
extension ControlRoutes {
    func addSessions(to api: APIRoutes) {
        api.postUnaudited("rooms/:room/participants/:participant/heartbeat") { call in
            let room = try sessionRoom(call)
            let body = try await call.request.decode(HeartbeatBody.self)
            try requireLiveness(call.claims, of: call.path("participant"), in: room)
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
            try requireLiveness(call.claims, of: call.path("participant"), in: room)
            let result = try directory.reconnect(
                room: room.sid,
                participant: call.path("participant"),
                sessionID: body.sessionID
            )
            return try APIResponse.json(answer(result, for: call))
        }
    }

    /// Whether a session request of the bearer proves that the participant is alive.
    ///
    /// An operator may keep the session of a participant it let in. A host without a session may be a bare encoder, and
    /// must not need heartbeats from then on because of one request of an operator.
    func provesLiveness(_ claims: AccessClaims, of participant: String, in room: RoomSummary) -> Bool {
        guard claims.role == .operator else { return true }
        // The stage reports what became of the session of a participant that left.
        guard let found = try? directory.participant(participant, in: room.sid) else { return true }
        return found.mode != .sendAndReceive || directory.hasSession(room: room.sid, participant: found.sid)
    }

    private func requireLiveness(
        _ claims: AccessClaims,
        of participant: String,
        in room: RoomSummary
    ) throws(StageError) {
        guard provesLiveness(claims, of: participant, in: room) else { throw .tokenGrantsInvalid }
    }

    /// Returns the room of a session that the bearer may act for: its own, or any for an operator.
    ///
    /// The stage checks whether the participant exists: it remembers ended sessions.
    private func sessionRoom(_ call: APICall) throws(StageError) -> RoomSummary {
        let room = try liveRoom(call, isBack: true)
        if call.claims.role == .operator { return room }
        guard call.claims.role == .participant, call.claims.isFor(room) else { throw .tokenGrantsInvalid }
        let found = try? directory.participant(call.path("participant"), in: room.sid)
        let identity = found?.identity ?? call.claims.identity
        guard identity == call.claims.identity else { throw .tokenGrantsInvalid }
        return room
    }
}

extension ControlRoutes {
    func addTracks(to api: APIRoutes) {
        let path: RouterPath = "rooms/:room/participants/:participant/tracks/:track"

        api.command(.put, path) { call in
            let target = try trackTarget(call, mayOnlyMute: false)
            let body = try await call.request.decode(PublishTrackBody.self, whenEmpty: PublishTrackBody())
            let kind = try body.kind?.known(in: "kind", orRefuse: "must be \(target.name.kind.rawValue)")
            let track = try directory.publishTrack(
                room: target.room.sid,
                participant: target.participant.sid,
                name: target.name,
                kind: kind,
                isEnabled: body.enabled ?? true
            )
            await save(target.room)
            return try APIResponse.json(TrackResource(track))
        }

        api.command(.patch, path) { call in
            // The right is checked before the body is decoded.
            _ = try trackTarget(call, mayOnlyMute: true)
            let body = try await call.request.decode(UpdateTrackBody.self)
            let target = try trackTarget(call, mayOnlyMute: !body.enabled)
            let track = try directory.setTrack(
                room: target.room.sid,
                participant: target.participant.sid,
                name: target.name,
                isEnabled: body.enabled
            )
            await save(target.room)
            return try APIResponse.json(TrackResource(track))
        }

        api.command(.delete, path) { call in
            let target = try trackTarget(call, mayOnlyMute: true)
            try directory.unpublishTrack(
                room: target.room.sid,
                participant: target.participant.sid,
                name: target.name
            )
            await save(target.room)
            return Response(status: .noContent)
        }
    }

    private typealias TrackTarget = (room: RoomSummary, participant: ParticipantView, name: TrackName)

    /// Returns the track that the path names, if the bearer may control it.
    ///
    /// A participant controls its own tracks, and operators all. The right over participants allows muting, but not
    /// switching a microphone or camera on.
    ///
    /// - Throws: 53301 or 53303 for the name, 3066 if the participant is not a host, 20106.
    private func trackTarget(_ call: APICall, mayOnlyMute: Bool) throws(StageError) -> TrackTarget {
        let room = try readableRoom(call)
        let participant = try commandedParticipant(call, in: room)
        let name = try TrackName(wireName: call.path("track"))
        let isSelf = call.claims.isSelf(participant, in: room)
        if !isSelf {
            try call.claims.require(.participants, in: room)
            guard call.claims.role == .operator || mayOnlyMute else { throw .tokenGrantsInvalid }
        }
        guard participant.mode == .sendAndReceive else { throw .notAHost }
        // A bearer whose token does not allow hosting was invited; the stage knows which tracks it may publish.
        let isInvited = !call.claims.modes.contains(.sendAndReceive)
        if isSelf, !mayOnlyMute, !call.claims.publishable(byInvitation: isInvited).contains(name) {
            throw .tokenGrantsInvalid
        }
        return (room, participant, name)
    }
}

extension ControlRoutes {
    func addPins(to api: APIRoutes) {
        api.command(.put, "rooms/:room/participants/:participant/pin") { call in
            let room = try readableRoom(call)
            let pinned = try commandedParticipant(call, in: room)
            let owner = try pinOwner(call.claims, in: room)
            let body = try await call.request.decode(PinBody.self, whenEmpty: PinBody())
            let type = try body.pinType?.known(in: "pin_type")
            let pin = try directory.pin(
                room: room.sid,
                participant: pinned.sid,
                type: type ?? .screenAndCamera,
                by: owner
            )
            await save(room)
            return try APIResponse.json(PinResource(pin))
        }

        api.command(.delete, "rooms/:room/participants/:participant/pin") { call in
            let room = try readableRoom(call)
            let pinned = try commandedParticipant(call, in: room)
            try directory.unpin(room: room.sid, participant: pinned.sid, by: pinOwner(call.claims, in: room))
            await save(room)
            return Response(status: .noContent)
        }
    }

    /// Returns the owner of a pin: the stage for a bearer with the right over participants, otherwise the bearer's own
    /// view.
    private func pinOwner(_ claims: AccessClaims, in room: RoomSummary) throws(StageError) -> PinOwner {
        claims.has(.participants, in: room) ? .stage : .participant(try bearer(claims, in: room).sid)
    }
}
