import GatewayModel
import HTTPTypes
import Hummingbird
import Stage

extension ControlRoutes {
    func addLayout(to api: APIRoutes) {
        api.read("rooms/:room/layout") { call in
            try Reply.json(LayoutResource(directory.layout(room: readableRoom(call).sid)))
        }

        api.command(.put, "rooms/:room/layout") { call in
            let room = try streamingRoom(call)
            let body = try await call.request.decode(LayoutBody.self)
            let layout = try directory.setLayout(room: room.sid) { (settings) throws(StageError) in
                try settings.take(body, isOperator: call.claims.role == .operator)
            }
            await keep(room)
            return try Reply.json(LayoutResource(layout))
        }

        // Asks with a body, but changes nothing, so that it is no command.
        api.sign("rooms/:room/layout/preview") { call in
            let room = try readableRoom(call)
            let body = try await call.request.decode(LayoutPreviewBody.self)
            var settings = try directory.layout(room: room.sid).settings
            if let layout = body.layout { try settings.take(layout, path: "layout.") }
            let hosts = try body.hosts.map { (hosts) throws(StageError) in try LayoutHost.hosts(hosts) }
            return try Reply.json(
                LayoutResource(directory.previewLayout(room: room.sid, settings: settings, hosts: hosts))
            )
        }
    }
}

extension LayoutHost {
    /// Reads the hosts of a preview, in join order; of several pins the first counts as the newest.
    fileprivate static func hosts(_ bodies: [PreviewHost]) throws(StageError) -> [LayoutHost] {
        var hosts: [LayoutHost] = []
        for (index, body) in bodies.enumerated() {
            var pin: PinType?
            if let name = body.pinType {
                pin = try PinType(named: name, field: "hosts[\(index)].pin_type")
            }
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
                    pin: pin,
                    pinnedAt: Double(bodies.count - index),
                    isDominantSpeaker: body.isDominantSpeaker ?? false
                )
            )
        }
        return hosts
    }
}
