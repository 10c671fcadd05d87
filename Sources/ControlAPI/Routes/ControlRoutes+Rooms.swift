import GatewayModel
import HTTPTypes
import Hummingbird
import Stage
import Viewership

extension ControlRoutes {
    func addRooms(to api: RouterGroup<BasicRequestContext>) {
        api.post("rooms") { request, _ in
            try await authenticate(request).requireOperator()
            let body = try await request.decode(CreateRoomBody.self)
            let room = try directory.create(RoomSettings(body))
            return try Reply.json(resource(of: room, for: request), status: .created)
        }

        api.get("rooms") { request, _ in
            try await authenticate(request).requireOversight()
            let status = try request.uri.queryParameters.get("status").map { name in
                guard let status = RoomStatus(rawValue: name) else {
                    throw StageError.invalidParameter("status", "must be in-progress or completed")
                }
                return status
            }
            let rooms = directory.rooms().filter { status == nil || $0.status == status }
            return try Reply.json(
                RoomList(
                    rooms: rooms.map { resource(of: $0, for: request) },
                    meta: PageResource(pageSize: rooms.count, nextPageToken: nil)
                )
            )
        }

        api.get("rooms/:room") { request, context in
            let claims = try await authenticate(request)
            let room = try room(context, for: claims)
            try claims.requireReading(room)
            return try Reply.json(resource(of: room, for: request))
        }

        api.post("rooms/:room") { request, context in
            let claims = try await authenticate(request)
            try claims.requireOperator()
            let room = try room(context, for: claims)
            let body = try await request.decode(UpdateRoomBody.self)
            guard body.status == RoomStatus.completed.rawValue else {
                throw StageError.invalidParameter("status", "must be completed")
            }
            try directory.end(room: room.sid)
            return try Reply.json(resource(of: directory.room(room.sid), for: request))
        }

        api.get("rooms/:room/layout") { request, context in
            let claims = try await authenticate(request)
            let room = try liveRoom(context, for: claims)
            try claims.requireReading(room)
            return try Reply.json(LayoutResource(room.layout))
        }
    }

    func resource(of room: RoomView, for request: Request) -> RoomResource {
        RoomResource(room, anonymous: anonymousPlayers(of: room), addresses: addresses(for: request))
    }

    /// Players that belong to no signalled participant; an ended room has none, whoever plays one of the same name now.
    func anonymousPlayers(of room: RoomView) -> Int {
        room.status == .inProgress ? viewership.report(room: room.name).anonymous : 0
    }
}
