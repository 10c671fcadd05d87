import GatewayModel
import HTTPTypes
import Hummingbird
import Stage

extension ControlRoutes {
    func addTracks(to api: APIRoutes) {
        let path: RouterPath = "rooms/:room/participants/:participant/tracks/:track"

        api.command(.put, path) { call in
            let place = try trackPlace(call, mayOnlyMute: false)
            let body = try await call.request.decode(PublishTrackBody.self, whenEmpty: PublishTrackBody())
            let kind = try body.kind.map { (name) throws(StageError) in
                guard let kind = TrackKind(rawValue: name) else {
                    throw .invalidParameter("kind", "must be \(place.name.kind.rawValue)")
                }
                return kind
            }
            let track = try directory.publishTrack(
                room: place.room.sid,
                participant: place.participant.sid,
                name: place.name,
                kind: kind,
                isEnabled: body.enabled ?? true
            )
            await keep(place.room)
            return try Reply.json(TrackResource(track))
        }

        api.command(.patch, path) { call in
            // Whoever may not even mute is told so, whatever the body.
            _ = try trackPlace(call, mayOnlyMute: true)
            let body = try await call.request.decode(UpdateTrackBody.self)
            let place = try trackPlace(call, mayOnlyMute: !body.enabled)
            let track = try directory.setTrack(
                room: place.room.sid,
                participant: place.participant.sid,
                name: place.name,
                isEnabled: body.enabled
            )
            await keep(place.room)
            return try Reply.json(TrackResource(track))
        }

        api.command(.delete, path) { call in
            let place = try trackPlace(call, mayOnlyMute: true)
            try directory.unpublishTrack(
                room: place.room.sid,
                participant: place.participant.sid,
                name: place.name
            )
            await keep(place.room)
            return Response(status: .noContent)
        }
    }

    private typealias TrackPlace = (room: RoomSummary, participant: ParticipantView, name: TrackName)

    /// The track that the path names.
    ///
    /// A participant decides over its own tracks, operators over all; whoever has a say over participants may silence
    /// them, but never switch a microphone or camera on.
    ///
    /// - Throws: 53301 or 53303 for the name; 3066 where there is no host; 20106.
    private func trackPlace(_ call: Call, mayOnlyMute: Bool) throws(StageError) -> TrackPlace {
        let room = try readableRoom(call)
        let participant = try commandedParticipant(call, in: room)
        let name = try TrackName(wireName: call.path("track"))
        let isSelf = call.claims.isSelf(participant, in: room)
        if !isSelf {
            try call.claims.require(.participants, in: room)
            guard call.claims.role == .operator || mayOnlyMute else { throw .tokenGrantsInvalid }
        }
        guard participant.mode == .sendAndReceive else { throw .notAHost }
        // Who is no host by this token was invited; what it may publish then, the stage knows.
        let isInvited = !call.claims.modes.contains(.sendAndReceive)
        if isSelf, !mayOnlyMute, !call.claims.publishable(byInvitation: isInvited).contains(name) {
            throw .tokenGrantsInvalid
        }
        return (room, participant, name)
    }
}
