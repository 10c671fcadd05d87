import FootlightModel
import Hummingbird
import Stage

/// Routes for the layout of a room, and for the order of its hosts.
struct LayoutRoutes: FeatureRoutes {
    let rooms: RoomAccess
    /// Checks that a room can use a file that is named.
    let files: AssetRoutes

    func add(to api: APIRoutes) {
        api.read("rooms/:room/layout") { call in
            try APIResponse.json(LayoutResource(rooms.directory.layout(room: rooms.readableRoom(call).sid)))
        }

        api.command(.put, "rooms/:room/layout") { call in
            let room = try rooms.streamingRoom(call)
            let body = try await call.decode(LayoutBody.self)
            // What is wrong with the values is told before what is wrong with files.
            var wanted = try rooms.directory.layout(room: room.sid).settings
            try wanted.apply(body, isOperator: call.claims.role == .operator)
            try wanted.validate(path: "")
            try await files.requireFiles(named: body, of: room)
            let layout = try rooms.directory.setLayout(room: room.sid) { (settings) throws(StageError) in
                try settings.apply(body, isOperator: call.claims.role == .operator)
            }
            await rooms.save(room)
            return try APIResponse.json(LayoutResource(layout))
        }

        api.command(.put, "rooms/:room/host_order") { call in
            let room = try rooms.streamingRoom(call)
            let body = try await call.decode(HostOrderResource.self)
            let identities = try rooms.directory.setHostOrder(room: room.sid, body.identities)
            await rooms.save(room)
            return try APIResponse.json(HostOrderResource(identities: identities))
        }

        // A query with a body; it changes nothing and is not audited.
        api.postUnaudited("rooms/:room/layout/preview") { call in
            let room = try rooms.readableRoom(call)
            let body = try await call.decode(LayoutPreviewBody.self)
            var settings = try rooms.directory.layout(room: room.sid).settings
            if let layout = body.layout { try settings.apply(layout, path: "layout.") }
            let hosts = try body.hosts.map { (hosts) throws(StageError) in try LayoutHost.hosts(hosts) }
            return try APIResponse.json(
                LayoutResource(rooms.directory.previewLayout(room: room.sid, settings: settings, hosts: hosts))
            )
        }
    }
}

extension LayoutHost {
    /// Parses the hosts of a preview in join order; of several pins the first is taken for the latest.
    fileprivate static func hosts(_ bodies: [PreviewHost]) throws(StageError) -> [LayoutHost] {
        var hosts: [LayoutHost] = []
        for (index, body) in bodies.enumerated() {
            hosts.append(
                LayoutHost(
                    sid: body.sid ?? "host-\(index + 1)",
                    label: body.label,
                    hasCamera: body.hasCamera ?? true,
                    hasScreen: body.hasScreen ?? false,
                    isMicOn: body.hasMic ?? true,
                    avatar: try body.avatar.map { (id) throws(StageError) in
                        try AssetReference(id, field: "hosts[\(index)].avatar").text
                    },
                    pin: try body.pinType?.known(in: "hosts[\(index)].pin_type"),
                    pinnedAt: Double(bodies.count - index),
                    isDominantSpeaker: body.isDominantSpeaker ?? false
                )
            )
        }
        return hosts
    }
}
