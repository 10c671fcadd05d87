import Assets
import GatewayModel
import HTTPTypes
import Hummingbird
import NIOCore
import Stage

/// The pictures and sounds of a room: put there by operators, read by its mixer.
extension ControlRoutes {
    func addAssets(to api: APIRoutes) {
        api.read("rooms/:room/assets") { call in
            let room = try liveRoom(call)
            try call.claims.requireOperator()
            return try Reply.json(AssetList(assets: try await assets.assets(of: room.sid).map { AssetResource($0) }))
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
                // It ended during the upload, and its folder was made anew.
                assets.roomEnded(room.sid)
                throw StageError.roomNotFound
            }
            directory.assetStored(room: room.sid, asset)
            return try Reply.json(AssetResource(asset))
        }

        api.read("rooms/:room/assets/:asset") { call in
            let room = try liveRoom(call)
            try call.claims.requireAssets(of: room)
            let file = try await assets.open(call.path("asset"), room: room.sid)
            return Reply.file(file, ifNot: call.request.headers[.ifNoneMatch])
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

extension Reply {
    /// A file as it is, or the word that it is the one that is known already.
    ///
    /// No browser takes it for anything but what its bytes are.
    fileprivate static func file(_ file: AssetFile, ifNot known: String?) -> Response {
        let tag = "\"\(file.asset.version)\""
        var headers: HTTPFields = [.cacheControl: "private, no-cache", .eTag: tag]
        if known == tag { return Response(status: .notModified, headers: headers) }
        headers[.contentType] = file.asset.contentType
        headers[.contentLength] = String(file.asset.size)
        headers[.contentDisposition] = "inline; filename=\"\(file.fileName)\""
        headers[.xContentTypeOptions] = "nosniff"
        let body = ResponseBody(contentLength: file.asset.size) { writer in
            var taker = writer
            try await file.forEachChunk { try await taker.write($0) }
            try await taker.finish(nil)
        }
        return Response(status: .ok, headers: headers, body: body)
    }
}
