import Assets
import FootlightModel
import HTTPTypes
import Hummingbird
import NIOCore
import Shows
import Stage

/// Routes for the images and audio files of a room, which operators upload and the mixer reads.
struct AssetRoutes: FeatureRoutes {
    let rooms: RoomAccess
    let assets: AssetStore
    let shows: ShowDirectory

    func add(to api: APIRoutes) {
        api.read("rooms/:room/assets") { call in
            let room = try rooms.liveRoom(call)
            try call.claims.requireOperator()
            return try APIResponse.json(
                AssetList(assets: try await assets.assets(of: room.sid).map { AssetResource($0) })
            )
        }

        api.command(.put, "rooms/:room/assets/:asset") { call in
            let room = try rooms.liveRoom(call)
            try call.claims.requireOperator()
            let asset = try await assets.store(from: call, of: room.sid) { () throws(StageError) in
                guard try rooms.directory.summary(of: room.sid).status == .inProgress else { throw .roomNotFound }
            }
            rooms.directory.assetStored(room: room.sid, asset)
            return try APIResponse.json(AssetResource(asset))
        }

        api.read("rooms/:room/assets/:asset") { call in
            let room = try rooms.liveRoom(call)
            try call.claims.requireAssets(of: room)
            let file = try await open(call.path("asset"), of: room)
            return APIResponse.file(file, ifNot: call.request.headers[.ifNoneMatch])
        }

        api.command(.delete, "rooms/:room/assets/:asset") { call in
            let room = try rooms.liveRoom(call)
            try call.claims.requireOperator()
            let asset = try await assets.remove(call.path("asset"), room: room.sid)
            rooms.directory.assetRemoved(room: room.sid, asset)
            return Response(status: .noContent)
        }
    }

    /// Refuses a layout that names a file which the room does not have.
    ///
    /// - Throws: 3073 naming the field.
    func requireFiles(named body: LayoutBody, of room: RoomSummary) async throws {
        try await assets.requireFiles(
            named: body.files(path: ""),
            of: [room.sid] + [show(of: room)?.id].compactMap { $0 }
        )
    }

    /// Opens a file of a room, or of the show whose episode takes place in it.
    private func open(_ name: String, of room: RoomSummary) async throws -> AssetFile {
        do {
            return try await assets.open(name, room: room.sid)
        } catch let error as StageError where error == .assetNotFound {
            guard let show = show(of: room) else { throw error }
            return try await assets.open(name, room: show.id)
        }
    }

    /// Returns the show whose episode takes place in a room.
    private func show(of room: RoomSummary) -> Show? {
        guard let show = try? shows.show(room.name), show.current?.roomSID == room.sid else { return nil }
        return show
    }
}

extension AssetStore {
    /// Stores the file that is the body of a request, under the name in its path.
    ///
    /// - Parameters:
    ///   - owner: The sid of a room or show.
    ///   - check: Called after the upload; throws if the owner is gone, whose folder the upload has made again.
    /// - Throws: 53004 with status 413 for a file that is too large, and as `store`.
    func store(
        from call: APICall,
        of owner: String,
        ifPresent check: () throws(StageError) -> Void
    ) async throws -> Asset {
        let largest = Self.limit(of: .sound)
        if let length = call.request.headers[.contentLength].flatMap({ Int($0) }), length > largest {
            throw StageError.assetTooLarge(largest)
        }
        let asset = try await store(call.request.chunks, as: call.path("asset"), room: owner)
        do {
            try check()
        } catch {
            roomEnded(owner)
            throw error
        }
        return asset
    }

    /// Refuses files that neither of some rooms and shows has.
    ///
    /// - Parameters:
    ///   - files: References to files, each with the field that has it; addresses of other servers are ignored.
    ///   - owners: The sids of rooms and shows.
    /// - Throws: 3073 naming the field.
    func requireFiles(named files: [(field: String, file: String)], of owners: [String]) async throws {
        guard files.contains(where: { AssetReference($0.file)?.name != nil }) else { return }
        var present: Set<String> = []
        for owner in owners { present.formUnion(try await assets(of: owner).map(\.name)) }
        for (field, file) in files {
            guard let name = AssetReference(file)?.name, !present.contains(name) else { continue }
            throw StageError.invalidParameter(field, "names the file \(name), which has not been uploaded")
        }
    }
}

extension LayoutBody {
    /// The files and addresses in the body, each with its field, whose name begins with `path`.
    func files(path: String) -> [(field: String, file: String)] {
        var named: [(field: String, file: String?)] = [
            ("logo.image", logo?.wrappedValue?.image), ("background.image", background?.wrappedValue?.image),
        ]
        if let slates = slates?.wrappedValue {
            for (name, slate) in [
                ("starting_soon", slates.startingSoon), ("be_right_back", slates.beRightBack), ("ended", slates.ended),
            ] {
                named.append(("slates.\(name).image", slate?.wrappedValue?.image))
                named.append(("slates.\(name).music", slate?.wrappedValue?.music))
            }
        }
        return named.compactMap { field, file in file.map { (path + field, $0) } }
    }
}

extension APIResponse {
    /// Returns a file, or 304 if the client has this version already.
    ///
    /// `nosniff` keeps browsers from interpreting the file as another type.
    static func file(_ file: AssetFile, ifNot known: String?) -> Response {
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
