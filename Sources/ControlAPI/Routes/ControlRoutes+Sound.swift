import GatewayModel
import HTTPTypes
import Hummingbird
import Stage

/// How the hosts are mixed; for whoever runs the show.
extension ControlRoutes {
    func addSound(to api: APIRoutes) {
        api.read("rooms/:room/sound") { call in
            let room = try readableRoom(call)
            return try Reply.json(RoomSoundResource(directory.room(room.sid).settings.sound))
        }

        api.command(.put, "rooms/:room/sound") { call in
            let room = try streamingRoom(call)
            let body = try await call.request.decode(RoomSoundBody.self)
            let sound = try directory.setSound(room: room.sid) { (sound) throws(StageError) in try sound.take(body) }
            await keep(room)
            return try Reply.json(RoomSoundResource(sound))
        }

        api.command(.put, "rooms/:room/participants/:participant/sound") { call in
            let room = try streamingRoom(call)
            let participant = try commandedParticipant(call, in: room)
            let body = try await call.request.decode(ParticipantSoundBody.self)
            let changed = try directory.setSound(room: room.sid, participant: participant.sid) { $0.take(body) }
            await keep(room)
            return try Reply.json(ParticipantResource(changed))
        }
    }
}
