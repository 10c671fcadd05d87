import Admission
import Assets
import Foundation
import FootlightModel
import HTTPTypes
import Hummingbird
import NIOCore
import Shows
import Stage
import Webhooks

/// Routes for shows: their settings, seats, files and episodes, and what viewers may know of them.
struct ShowRoutes: FeatureRoutes {
    let shows: ShowDirectory
    let rooms: RoomAccess
    let answers: RoomAnswers
    let gate: AudienceGate
    let assets: AssetStore
    /// Nil if the gateway records no programs.
    let recordings: (any RecordingControlling)?
    /// Nil if the gateway has no webhooks.
    let webhooks: WebhookDispatcher?

    func add(to api: APIRoutes) {
        addShows(to: api)
        addSeats(to: api)
        addEpisodes(to: api)
        addAssets(to: api)
        addPublic(to: api)
    }

    private func addShows(to api: APIRoutes) {
        api.command(.post, "shows") { call in
            try call.claims.requireOperator()
            try rooms.admit()
            let body = try await call.decode(ShowBody.self)
            let template = try call.query("template").map { name in
                guard let template = ShowTemplate(rawValue: name) else {
                    let names = ShowTemplate.allCases.map(\.rawValue).joined(separator: ", ")
                    throw StageError.invalidParameter("template", "must be one of \(names)")
                }
                return template
            }
            let settings = try ShowSettings(body, template: template, digest: gate.digest)
            try await assets.requireFiles(named: body.files, of: [])
            let seats = (body.seats ?? []).map { ($0.identity, $0.displayName) }
            try await rooms.claim(settings.room.name)
            return try answer(try await shows.create(settings, seats: seats), call, .created)
        }

        api.read("shows") { call in
            try call.claims.requireMonitoring()
            return try APIResponse.json(ShowList(shows: shows.shows.map { try resource(of: $0, call) }))
        }

        api.read("shows/:show") { call in
            try call.claims.requireMonitoring()
            return try answer(try shows.show(call.path("show")), call)
        }

        api.command(.patch, "shows/:show") { call in
            try call.claims.requireOperator()
            let body = try await call.decode(ShowBody.self)
            guard body.seats == nil else {
                throw StageError.invalidParameter("seats", "are changed one by one, below the show's seats")
            }
            try await assets.requireFiles(named: body.files, of: [shows.show(call.path("show")).id])
            let show = try await shows.update(call.path("show")) { (settings) throws(StageError) in
                try settings.apply(body, digest: gate.digest)
            }
            return try answer(show, call)
        }

        api.command(.delete, "shows/:show") { call in
            try call.claims.requireOperator()
            let show = try shows.show(call.path("show"))
            try await shows.delete(show.name)
            assets.roomEnded(show.id)
            await webhooks?.removeEndpoints { $0 == show.name }
            return Response(status: .noContent)
        }

        api.command(.post, "shows/:show/outputs") { call in
            try call.claims.requireOperator()
            let body = try await call.decode(OutputBody.self)
            let show = try await shows.update(call.path("show"), starting: body.name) { (settings) throws(StageError) in
                try settings.addOutput(body)
            }
            return try answer(show, call, .created)
        }

        api.command(.delete, "shows/:show/outputs/:output") { call in
            try call.claims.requireOperator()
            let name = call.path("output")
            let show = try await shows.update(call.path("show")) { (settings) throws(StageError) in
                try settings.removeOutput(name)
            }
            return try answer(show, call)
        }

        api.command(.post, "shows/:show/copy") { call in
            try call.claims.requireOperator()
            let body = try await call.decode(ShowBody.self)
            guard let name = body.name else { throw StageError.invalidParameter("name", "must be given") }
            let original = try shows.show(call.path("show"))
            try await rooms.claim(name)
            let show = try await shows.copy(original.name, as: name, title: body.title)
            do {
                try await assets.copy(from: original.id, to: show.id)
            } catch {
                try? await shows.delete(show.name)
                throw error
            }
            return try answer(show, call, .created)
        }

        // Not stored before it is on air: a director must not wait for the disk.
        api.command(.post, "shows/:show/scenes/:scene/take") { call in
            try call.claims.requireOperator()
            let scene = call.path("scene").removingPercentEncoding ?? ""
            let (layout, sid) = try await shows.apply(scene: scene, of: call.path("show"))
            if let room = try? rooms.directory.summary(of: sid) { await rooms.save(room) }
            return try APIResponse.json(LayoutResource(layout))
        }
    }

    private func addSeats(to api: APIRoutes) {
        api.read("shows/:show/seats/:identity") { call in
            try call.claims.requireOperator()
            return try answer(try shows.show(call.path("show")).seat(call.path("identity")), call)
        }

        api.command(.post, "shows/:show/seats") { call in
            try call.claims.requireOperator()
            let body = try await call.decode(SeatBody.self)
            let seat = try await shows.addSeat(body.identity, displayName: body.displayName, to: call.path("show"))
            return try answer(seat, call, .created)
        }

        api.command(.delete, "shows/:show/seats/:identity") { call in
            try call.claims.requireOperator()
            try await shows.removeSeat(call.path("identity"), of: call.path("show"))
            return Response(status: .noContent)
        }

        api.command(.delete, "shows/:show/seats/:identity/removal") { call in
            try call.claims.requireOperator()
            try await shows.readmit(call.path("identity"), to: call.path("show"))
            return Response(status: .noContent)
        }

        api.command(.post, "shows/:show/seats/:identity/key") { call in
            try call.claims.requireOperator()
            return try answer(try await shows.renewKey(of: call.path("identity"), in: call.path("show")), call)
        }
    }

    private func addEpisodes(to api: APIRoutes) {
        api.read("shows/:show/episodes") { call in
            try call.claims.requireMonitoring()
            let addresses = answers.addresses(for: call.request)
            let show = try shows.show(call.path("show"))
            return try APIResponse.json(
                EpisodeList(episodes: show.episodes.map { EpisodeResource($0, addresses: addresses) })
            )
        }

        api.command(.post, "shows/:show/episodes") { call in
            try call.claims.requireOperator()
            let body = try await call.decode(EpisodeBody.self, whenEmpty: EpisodeBody())
            let episode = try await shows.plan(
                call.path("show"),
                title: body.title ?? "",
                at: body.plannedAt?.wrappedValue?.seconds
            )
            return try answer(episode, call, .created)
        }

        // `current` names the episode that is open, or the next one.
        api.read("shows/:show/episodes/:episode") { call in
            try call.claims.requireMonitoring()
            return try answer(try shows.episode(call.path("episode"), of: call.path("show")).episode, call)
        }

        api.read("shows/:show/episodes/:episode/moments") { call in
            try call.claims.requireMonitoring()
            let episode = try shows.episode(call.path("episode"), of: call.path("show")).episode
            return try APIResponse.json(
                EpisodeMomentList(moments: episode.moments.map { EpisodeMomentResource($0) })
            )
        }

        api.command(.patch, "shows/:show/episodes/:episode") { call in
            try call.claims.requireOperator()
            let body = try await call.decode(EpisodeBody.self)
            let episode = try await shows.updateEpisode(
                call.path("episode"),
                of: call.path("show"),
                title: body.title,
                plannedAt: body.plannedAt.map { $0.wrappedValue?.seconds }
            )
            return try answer(episode, call)
        }

        api.command(.delete, "shows/:show/episodes/:episode") { call in
            try call.claims.requireOperator()
            try await shows.deleteEpisode(call.path("episode"), of: call.path("show"))
            return Response(status: .noContent)
        }

        api.command(.post, "shows/:show/episodes/:episode/open") { call in
            try call.claims.requireOperator()
            try rooms.admit()
            return try await changed(try await shows.open(call.path("episode"), of: call.path("show")), call)
        }

        api.command(.post, "shows/:show/episodes/:episode/go_live") { call in
            try call.claims.requireOperator()
            try rooms.admit()
            return try await changed(try await shows.goLive(call.path("episode"), of: call.path("show")), call)
        }

        api.command(.post, "shows/:show/episodes/:episode/end") { call in
            try call.claims.requireOperator()
            return try await changed(try await shows.end(call.path("episode"), of: call.path("show")), call)
        }
    }

    private func addAssets(to api: APIRoutes) {
        api.read("shows/:show/assets") { call in
            try call.claims.requireOperator()
            let show = try shows.show(call.path("show"))
            return try APIResponse.json(
                AssetList(assets: try await assets.assets(of: show.id).map { AssetResource($0) })
            )
        }

        api.command(.put, "shows/:show/assets/:asset") { call in
            try call.claims.requireOperator()
            let show = try shows.show(call.path("show"))
            let asset = try await assets.store(from: call, of: show.id) { () throws(StageError) in
                guard try shows.show(show.name).id == show.id else { throw .showNotFound }
            }
            if let sid = (try? shows.show(show.name))?.current?.roomSID {
                rooms.directory.assetStored(room: sid, asset)
            }
            return try APIResponse.json(AssetResource(asset))
        }

        api.read("shows/:show/assets/:asset") { call in
            try call.claims.requireOperator()
            let show = try shows.show(call.path("show"))
            let file = try await assets.open(call.path("asset"), room: show.id)
            return APIResponse.file(file, ifNot: call.request.headers[.ifNoneMatch])
        }

        api.command(.delete, "shows/:show/assets/:asset") { call in
            try call.claims.requireOperator()
            let show = try shows.show(call.path("show"))
            let asset = try await assets.remove(call.path("asset"), room: show.id)
            if let sid = show.current?.roomSID { rooms.directory.assetRemoved(room: sid, asset) }
            return Response(status: .noContent)
        }
    }

    private func addPublic(to api: APIRoutes) {
        // Viewers have no token, and a title says no more than an announcement does.
        api.group.get("shows/:show/status") { request, context -> Response in
            let name = context.parameters.get("show") ?? ""
            let status = try shows.status(of: name)
            var response = try APIResponse.json(
                ShowStatusResource(
                    status,
                    name: name,
                    replays: (try? shows.show(name)).map { replays(of: $0) } ?? [],
                    addresses: answers.addresses(for: request)
                )
            )
            response.headers[.cacheControl] = "no-store"
            response.headers[.accessControlAllowOrigin] = "*"
            return response
        }

        api.group.get("shows/:show/poster") { request, context -> Response in
            let show = try shows.show(context.parameters.get("show") ?? "")
            guard let poster = show.settings.poster else { throw StageError.assetNotFound }
            let file = try await assets.open(poster, room: show.id)
            guard file.asset.kind == .image else { throw StageError.assetNotFound }
            return APIResponse.file(file, ifNot: request.headers[.ifNoneMatch])
        }

        api.group.get("shows/:show/replays/:recording/media.mp4") { request, context in
            try await replay(request, context)
        }
    }

    /// Returns the recordings that everyone may watch, in the order of time.
    private func replays(of show: Show) -> [RecordedFile] {
        guard let sid = show.replayedRoom, let recordings else { return [] }
        return recordings.files(room: sid).filter { $0.state != .recording && $0.bytes > 0 }
    }

    private func replay(_ request: Request, _ context: BasicRequestContext) async throws -> Response {
        let show = try shows.show(context.parameters.get("show") ?? "")
        let sid = context.parameters.get("recording")
        guard let file = replays(of: show).first(where: { $0.sid == sid }), let path = recordings?.path(file.sid) else {
            throw StageError.recordingNotFound
        }
        return try await APIResponse.media(of: file, at: path, request, context, isDownload: false)
    }

    // MARK: Answers

    private func resource(of show: Show, _ call: APICall) throws(StageError) -> ShowResource {
        var resource = ShowResource(
            show,
            status: try shows.status(of: show.name),
            addresses: answers.addresses(for: call.request)
        )
        // Keys are for operators.
        if call.claims.role != .operator { (resource.seats, resource.outputs) = ([], []) }
        return resource
    }

    private func answer(_ show: Show, _ call: APICall, _ status: HTTPResponse.Status = .ok) throws -> Response {
        try APIResponse.json(try resource(of: show, call), status: status)
    }

    private func answer(_ seat: Seat, _ call: APICall, _ status: HTTPResponse.Status = .ok) throws -> Response {
        let addresses = answers.addresses(for: call.request)
        let show = try shows.show(call.path("show"))
        return try APIResponse.json(SeatResource(seat, of: show, addresses: addresses), status: status)
    }

    private func answer(_ episode: Episode, _ call: APICall, _ status: HTTPResponse.Status = .ok) throws -> Response {
        let addresses = answers.addresses(for: call.request)
        return try APIResponse.json(EpisodeResource(episode, addresses: addresses), status: status)
    }

    /// Answers after the episode's room changed, which is stored first.
    private func changed(_ episode: Episode, _ call: APICall) async throws -> Response {
        if let sid = episode.roomSID, let room = try? rooms.directory.summary(of: sid) { await rooms.save(room) }
        return try answer(episode, call)
    }
}

extension ShowBody {
    /// The files and addresses in the body, each with its field.
    fileprivate var files: [(field: String, file: String)] {
        var files: [(field: String, file: String)] = []
        if let poster = poster?.wrappedValue { files.append(("poster", AssetReference(name: poster).text)) }
        files += room?.layout?.files(path: "room.layout.") ?? []
        for (index, scene) in (scenes ?? []).enumerated() {
            files += scene.layout.files(path: "scenes[\(index)].layout.")
        }
        return files
    }
}
