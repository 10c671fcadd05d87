import FootlightModel
import Hummingbird
import Stage

/// Routes that publish, mute and unpublish tracks.
struct TrackRoutes: FeatureRoutes {
    let rooms: RoomAccess

    func add(to api: APIRoutes) {
        let path: RouterPath = "rooms/:room/participants/:participant/tracks/:track"

        api.command(.put, path) { call in
            let target = try trackTarget(call, mayOnlyMute: false)
            let body = try await call.decode(PublishTrackBody.self, whenEmpty: PublishTrackBody())
            let kind = try body.kind?.known(in: "kind", orRefuse: "must be \(target.name.kind.rawValue)")
            let track = try rooms.directory.publishTrack(
                room: target.room.sid,
                participant: target.participant.sid,
                name: target.name,
                kind: kind,
                isEnabled: body.enabled ?? true
            )
            await rooms.save(target.room)
            return try APIResponse.json(TrackResource(track))
        }

        api.command(.patch, path) { call in
            // The right is checked before the body is decoded.
            _ = try trackTarget(call, mayOnlyMute: true)
            let body = try await call.decode(UpdateTrackBody.self)
            let target = try trackTarget(call, mayOnlyMute: !body.enabled)
            let track = try rooms.directory.setTrack(
                room: target.room.sid,
                participant: target.participant.sid,
                name: target.name,
                isEnabled: body.enabled,
                by: call.claims.isSelf(target.participant, in: target.room) ? nil : call.claims.identity
            )
            await rooms.save(target.room)
            return try APIResponse.json(TrackResource(track))
        }

        api.command(.delete, path) { call in
            let target = try trackTarget(call, mayOnlyMute: true)
            try rooms.directory.unpublishTrack(
                room: target.room.sid,
                participant: target.participant.sid,
                name: target.name
            )
            await rooms.save(target.room)
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
        let room = try rooms.readableRoom(call)
        let participant = try rooms.commandedParticipant(call, in: room)
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
