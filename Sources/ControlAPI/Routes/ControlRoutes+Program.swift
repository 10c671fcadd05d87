import Assets
import FootlightModel
import HTTPTypes
import Hummingbird
import NIOCore
import Stage

extension ControlRoutes {
    func addLayout(to api: APIRoutes) {
        api.read("rooms/:room/layout") { call in
            try APIResponse.json(LayoutResource(directory.layout(room: readableRoom(call).sid)))
        }

        api.command(.put, "rooms/:room/layout") { call in
            let room = try streamingRoom(call)
            let body = try await call.request.decode(LayoutBody.self)
            let layout = try directory.setLayout(room: room.sid) { (settings) throws(StageError) in
                try settings.apply(body, isOperator: call.claims.role == .operator)
            }
            await save(room)
            return try APIResponse.json(LayoutResource(layout))
        }

        // A query with a body; it changes nothing and is not audited.
        api.postUnaudited("rooms/:room/layout/preview") { call in
            let room = try readableRoom(call)
            let body = try await call.request.decode(LayoutPreviewBody.self)
            var settings = try directory.layout(room: room.sid).settings
            if let layout = body.layout { try settings.apply(layout, path: "layout.") }
            let hosts = try body.hosts.map { (hosts) throws(StageError) in try LayoutHost.hosts(hosts) }
            return try APIResponse.json(
                LayoutResource(directory.previewLayout(room: room.sid, settings: settings, hosts: hosts))
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

/// Routes for the room's audio mix.
extension ControlRoutes {
    func addAudio(to api: APIRoutes) {
        api.read("rooms/:room/sound") { call in
            let room = try readableRoom(call)
            return try APIResponse.json(RoomSoundResource(directory.room(room.sid).settings.sound))
        }

        api.command(.put, "rooms/:room/sound") { call in
            let room = try streamingRoom(call)
            let body = try await call.request.decode(RoomSoundBody.self)
            let sound = try directory.setSound(room: room.sid) { (sound) throws(StageError) in try sound.apply(body) }
            await save(room)
            return try APIResponse.json(RoomSoundResource(sound))
        }

        api.command(.put, "rooms/:room/participants/:participant/sound") { call in
            let room = try streamingRoom(call)
            let participant = try commandedParticipant(call, in: room)
            let body = try await call.request.decode(ParticipantSoundBody.self)
            let changed = try directory.setSound(room: room.sid, participant: participant.sid) { $0.apply(body) }
            await save(room)
            return try APIResponse.json(ParticipantResource(changed))
        }
    }
}

/// Routes for the images and audio files of a room, which operators upload and the mixer reads.
extension ControlRoutes {
    func addAssets(to api: APIRoutes) {
        api.read("rooms/:room/assets") { call in
            let room = try liveRoom(call)
            try call.claims.requireOperator()
            return try APIResponse.json(
                AssetList(assets: try await assets.assets(of: room.sid).map { AssetResource($0) })
            )
        }

        api.command(.put, "rooms/:room/assets/:asset") { call in
            let room = try liveRoom(call)
            try call.claims.requireOperator()
            let largest = AssetStore.limit(of: .sound)
            if let length = call.request.headers[.contentLength].flatMap({ Int($0) }), length > largest {
                throw StageError.assetTooLarge(largest)
            }
            let asset = try await assets.store(call.request.chunks, as: call.path("asset"), room: room.sid)
            guard try directory.summary(of: room.sid).status == .inProgress else {
                // The room ended during the upload, which recreated its folder.
                assets.roomEnded(room.sid)
                throw StageError.roomNotFound
            }
            directory.assetStored(room: room.sid, asset)
            return try APIResponse.json(AssetResource(asset))
        }

        api.read("rooms/:room/assets/:asset") { call in
            let room = try liveRoom(call)
            try call.claims.requireAssets(of: room)
            let file = try await assets.open(call.path("asset"), room: room.sid)
            return APIResponse.file(file, ifNot: call.request.headers[.ifNoneMatch])
        }

        api.command(.delete, "rooms/:room/assets/:asset") { call in
            let room = try liveRoom(call)
            try call.claims.requireOperator()
            let asset = try await assets.remove(call.path("asset"), room: room.sid)
            directory.assetRemoved(room: room.sid, asset)
            return Response(status: .noContent)
        }
    }
}

extension APIResponse {
    /// Returns a file, or 304 if the client has this version already.
    ///
    /// `nosniff` keeps browsers from interpreting the file as another type.
    fileprivate static func file(_ file: AssetFile, ifNot known: String?) -> Response {
        let tag = "\"\(file.asset.version)\""
        var headers: HTTPFields = [.cacheControl: "private, no-cache", .eTag: tag]
        if known == tag { return Response(status: .notModified, headers: headers) }
        headers[.contentType] = file.asset.contentType
        headers[.contentLength] = String(file.asset.size)
        headers[.contentDisposition] = "inline; filename=\"\(file.fileName)\""
        headers[.xContentTypeOptions] = "nosniff"
        let body = ResponseBody(contentLength: file.asset.size) { writer in
            var output = writer
            try await file.forEachChunk { try await output.write($0) }
            try await output.finish(nil)
        }
        return Response(status: .ok, headers: headers, body: body)
    }
}

extension AssetResource {
    init(_ asset: Asset) {
        self.init(
            name: asset.name,
            kind: .known(asset.kind),
            contentType: asset.contentType,
            size: asset.size,
            version: asset.version,
            dateStored: Timestamp(asset.storedAt)
        )
    }
}
