import FootlightModel
import Hummingbird
import Stage

/// Routes for the audio mix of a room.
struct AudioRoutes: FeatureRoutes {
    let rooms: RoomAccess

    func add(to api: APIRoutes) {
        api.read("rooms/:room/sound") { call in
            let room = try rooms.readableRoom(call)
            return try APIResponse.json(RoomSoundResource(rooms.directory.room(room.sid).settings.sound))
        }

        api.command(.put, "rooms/:room/sound") { call in
            let room = try rooms.streamingRoom(call)
            let body = try await call.decode(RoomSoundBody.self)
            let sound = try rooms.directory.setSound(room: room.sid) { (sound) throws(StageError) in
                try sound.apply(body)
            }
            await rooms.save(room)
            return try APIResponse.json(RoomSoundResource(sound))
        }

        api.command(.put, "rooms/:room/participants/:participant/sound") { call in
            let room = try rooms.streamingRoom(call)
            let participant = try rooms.commandedParticipant(call, in: room)
            let body = try await call.decode(ParticipantSoundBody.self)
            let changed = try rooms.directory.setSound(room: room.sid, participant: participant.sid) { $0.apply(body) }
            await rooms.save(room)
            return try APIResponse.json(ParticipantResource(changed))
        }
    }
}
