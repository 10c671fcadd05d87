import GatewayModel
import HTTPTypes
import Hummingbird
import Stage

extension ControlRoutes {
    func addHLS(to api: APIRoutes) {
        api.command(.post, "rooms/:room/hls/start") { call in
            let room = try broadcastRoom(call)
            try admitProgram(of: room)
            let body = try await call.request.decode(StartHLSBody.self, whenEmpty: StartHLSBody())
            guard let hls else { throw StageError.hlsNotStarted("This gateway offers no playlists") }
            try check(body.layout, directory.room(room.sid).settings.layout)
            try hls.start(room: room.name)
            try await arrange(body.layout, in: room, by: call.claims)
            return try playlist(of: room, call)
        }

        api.command(.post, "rooms/:room/hls/stop") { call in
            let room = try broadcastRoom(call)
            guard let hls else { throw StageError.hlsNotStopped("This gateway offers no playlists") }
            try hls.stop(room: room.name)
            return try playlist(of: room, call)
        }
    }

    private func playlist(of room: RoomSummary, _ call: Call) throws -> Response {
        try Reply.json(egress(of: room, addresses: addresses(for: call.request)).hls, status: .accepted)
    }
}
