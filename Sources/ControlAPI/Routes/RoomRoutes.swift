import Admission
import FootlightModel
import Hummingbird
import Stage

/// Routes that create, list and end rooms, and put them on air.
struct RoomRoutes: FeatureRoutes {
    let rooms: RoomAccess
    let answers: RoomAnswers
    let autoStarts: AutoStartScheduler
    let gate: AudienceGate
    /// Nil for a gateway that runs alone.
    let cluster: (any ClusterControlling)?

    func add(to api: APIRoutes) {
        api.command(.post, "rooms") { call in
            try call.claims.requireOperator()
            try rooms.admit()
            let body = try await call.decode(CreateRoomBody.self)
            var settings = try RoomSettings(body, digest: gate.digest)
            let layouts = [
                (body.autoStart?.livestream?.layout, "auto_start.livestream.layout."),
                (body.autoStart?.hls?.layout, "auto_start.hls.layout."),
            ]
            for (layout, path) in layouts { try settings.layout.applyStart(layout, path: path, isOperator: true) }
            let start = try body.autoStart?.livestream.map {
                try LivestreamStart($0, program: settings.program, by: call.claims)
            }
            try await rooms.claim(settings.name)
            let room = try rooms.directory.create(settings)
            try await rooms.saveNew(room)
            // HLS starts with the program in any case.
            if let start { autoStarts.schedule(start.targets, start.options, room: room.sid) }
            return try APIResponse.json(answers.resource(of: room, for: call.request), status: .created)
        }

        api.read("rooms") { call in
            try call.claims.requireMonitoring()
            let status = try call.query("status").map { name in
                guard let status = RoomStatus(rawValue: name) else {
                    throw StageError.invalidParameter("status", "must be in-progress or completed")
                }
                return status
            }
            let found = rooms.directory.rooms(status)
            let request = try PageRequest(call.request)
            let page = request.page(of: found) { PageRequest.Cursor(at: $0.createdAt, sid: $0.sid) }
            let own = RoomList(
                rooms: page.entries.map { answers.resource(of: $0, for: call.request) },
                meta: page.meta
            )
            guard let others = await cluster?.rooms(for: call.request), others != ([], []) else {
                return try APIResponse.json(own)
            }
            let pages = [own] + others.pages
            return try APIResponse.json(
                RoomList(merging: pages, size: request.size, unreachable: others.unreachable)
            )
        }

        api.read("rooms/:room") { call in
            let room = try rooms.room(call)
            try call.claims.requireReading(room)
            return try APIResponse.json(answers.resource(of: rooms.directory.room(room.sid), for: call.request))
        }

        api.command(.post, "rooms/:room") { call in
            try call.claims.requireOperator()
            let room = try rooms.room(call)
            let body = try await call.decode(UpdateRoomBody.self)
            guard body.status == .completed else {
                throw StageError.invalidParameter("status", "must be completed")
            }
            try rooms.directory.end(room: room.sid)
            await rooms.save(room)
            return try APIResponse.json(answers.resource(of: rooms.directory.room(room.sid), for: call.request))
        }

        api.command(.post, "rooms/:room/go_live") { call in
            let room = try rooms.streamingRoom(call)
            try rooms.admit()
            return try await changed(rooms.directory.goLive(room: room.sid), call)
        }

        api.command(.post, "rooms/:room/stop_live") { call in
            try await changed(rooms.directory.stopLive(room: rooms.streamingRoom(call).sid), call)
        }
    }

    private func changed(_ room: RoomView, _ call: APICall) async throws -> Response {
        await rooms.save(room)
        return try APIResponse.json(answers.resource(of: room, for: call.request))
    }
}
