import FootlightModel
import HTTPTypes
import Hummingbird
import Stage
import Viewership

extension ControlRoutes {
    func addRooms(to api: APIRoutes) {
        api.command(.post, "rooms") { call in
            try call.claims.requireOperator()
            try admit()
            let body = try await call.request.decode(CreateRoomBody.self)
            let settings = try RoomSettings(body)
            let start = try body.autoStart?.livestream.map {
                try livestreamStart($0, program: settings.program, by: call.claims)
            }
            let room = try directory.create(settings)
            try await saveNew(room)
            // HLS starts with the program in any case.
            if let start { autoStarts.schedule(start.targets, start.options, room: room.sid) }
            return try APIResponse.json(resource(of: room, for: call.request), status: .created)
        }

        api.read("rooms") { call in
            try call.claims.requireMonitoring()
            let status = try call.query("status").map { name in
                guard let status = RoomStatus(rawValue: name) else {
                    throw StageError.invalidParameter("status", "must be in-progress or completed")
                }
                return status
            }
            let rooms = directory.rooms(status)
            let page = try PageRequest(call.request).page(of: rooms) {
                PageRequest.Cursor(at: $0.createdAt, sid: $0.sid)
            }
            return try APIResponse.json(
                RoomList(rooms: page.entries.map { resource(of: $0, for: call.request) }, meta: page.meta)
            )
        }

        api.read("rooms/:room") { call in
            let room = try room(call)
            try call.claims.requireReading(room)
            return try APIResponse.json(resource(of: directory.room(room.sid), for: call.request))
        }

        api.command(.post, "rooms/:room") { call in
            try call.claims.requireOperator()
            let room = try room(call)
            let body = try await call.request.decode(UpdateRoomBody.self)
            guard body.status == .completed else {
                throw StageError.invalidParameter("status", "must be completed")
            }
            try directory.end(room: room.sid)
            await save(room)
            return try APIResponse.json(resource(of: directory.room(room.sid), for: call.request))
        }

        api.command(.post, "rooms/:room/go_live") { call in
            let room = try streamingRoom(call)
            try admit()
            return try await changed(directory.goLive(room: room.sid), call)
        }

        api.command(.post, "rooms/:room/stop_live") { call in
            try await changed(directory.stopLive(room: streamingRoom(call).sid), call)
        }
    }

    func resource(of room: RoomView, for request: Request) -> RoomResource {
        let addresses = addresses(for: request)
        return RoomResource(
            room,
            audience: audience(of: room),
            egress: egress(of: room, isInProgress: room.status == .inProgress, addresses: addresses),
            addresses: addresses
        )
    }

    /// Returns the room's viewership; nil for an ended room, because a new one may have the same name.
    func audience(of room: RoomView) -> RoomViewership? {
        room.status == .inProgress ? viewership.report(room: room.name) : nil
    }

    private func changed(_ room: RoomView, _ call: APICall) async throws -> Response {
        await save(room)
        return try APIResponse.json(resource(of: room, for: call.request))
    }

    /// Persists a new room, and ends it if that fails, because a restart would lose it.
    ///
    /// - Throws: 53103.
    func saveNew(_ room: RoomView) async throws(StageError) {
        do {
            try await persist(room.sid)
        } catch {
            audit.notPersisted(room, error)
            try directory.end(room: room.sid)
            throw .roomCreationFailed
        }
    }
}
