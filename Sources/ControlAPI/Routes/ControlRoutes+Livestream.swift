import FootlightModel
import HTTPTypes
import Hummingbird
import Stage

extension ControlRoutes {
    func addLivestream(to api: APIRoutes) {
        api.command(.post, "rooms/:room/livestream/start") { call in
            let room = try broadcastRoom(call)
            try admitProgram(of: room)
            let body = try await call.request.decode(StartLivestreamBody.self)
            let settings = try directory.room(room.sid).settings
            let start = try livestreamStart(body, program: settings.program, by: call.claims)
            try check(body.layout, settings.layout)
            try livestreams.start(room: room.name, targets: start.targets, options: start.options)
            try await applyLayout(body.layout, in: room, by: call.claims)
            return try livestream(of: room, status: .accepted)
        }

        api.command(.post, "rooms/:room/livestream/stop") { call in
            let room = try broadcastRoom(call)
            try livestreams.stop(room: room.name)
            return try livestream(of: room, status: .accepted)
        }

        api.command(.post, "rooms/:room/livestream/outputs") { call in
            let room = try broadcastRoom(call)
            let body = try await call.request.decode(AddOutputsBody.self)
            let program = try directory.room(room.sid).settings.program
            try requireRenditions(body.outputs, of: program)
            let taken = livestreams.status(room: room.name).outputs.map(\.name)
            let targets = try OutputTarget.targets(
                of: body.outputs,
                beside: taken,
                program: program,
                by: call.claims
            )
            try livestreams.add(targets, room: room.name)
            return try livestream(of: room, status: .accepted)
        }

        api.command(.delete, "rooms/:room/livestream/outputs/:output") { call in
            let room = try broadcastRoom(call)
            try livestreams.remove(output: call.path("output"), room: room.name)
            return try livestream(of: room, status: .ok)
        }

        api.command(.post, "rooms/:room/livestream/outputs/:output/retry") { call in
            let room = try broadcastRoom(call)
            try livestreams.retry(output: call.path("output"), room: room.name)
            return try livestream(of: room, status: .accepted)
        }

        api.read("rooms/:room/egress") { call in
            let room = try readableRoom(call)
            return try APIResponse.json(egress(of: room, addresses: addresses(for: call.request)))
        }
    }

    /// Parses a start request; its options must match the room's program.
    func livestreamStart(
        _ body: StartLivestreamBody,
        program: ProgramConfiguration,
        by claims: AccessClaims
    ) throws(StageError) -> (targets: [OutputTarget], options: LivestreamOptions) {
        let options = try LivestreamOptions(body)
        try options.validate()
        try options.requireMatch(program)
        try requireRenditions(body.outputs, of: program)
        return (try OutputTarget.targets(of: body.outputs, beside: [], program: program, by: claims), options)
    }

    /// Returns the state of the room's livestream and HLS.
    func egress(of room: some NamedRoom, isInProgress: Bool = true, addresses: PlaybackAddresses) -> EgressResource {
        guard isInProgress else {
            return EgressResource(livestream: LivestreamStatus(), hls: HLSResource())
        }
        return EgressResource(
            livestream: livestreams.status(room: room.name),
            hls: hls.map { HLSResource($0.status(room: room.name), room: room.name, addresses: addresses) }
                ?? HLSResource()
        )
    }

    /// Validates the layout of a start request before anything is started.
    func check(_ body: LayoutBody?, _ present: LayoutSettings) throws(StageError) {
        guard let body else { return }
        var settings = present
        try settings.apply(body, path: "layout.")
        try settings.validate(path: "layout.")
    }

    /// Applies the layout of a start request, if there is one.
    func applyLayout(_ body: LayoutBody?, in room: some NamedRoom, by claims: AccessClaims) async throws {
        guard let body else { return }
        _ = try directory.setLayout(room: room.sid) { (settings) throws(StageError) in
            try settings.apply(body, path: "layout.", isOperator: claims.role == .operator)
        }
        await save(room)
    }

    private func livestream(of room: RoomSummary, status: HTTPResponse.Status) throws -> Response {
        try APIResponse.json(LivestreamResource(livestreams.status(room: room.name)), status: status)
    }
}

extension ControlRoutes {
    func addHLS(to api: APIRoutes) {
        api.command(.post, "rooms/:room/hls/start") { call in
            let room = try broadcastRoom(call)
            try admitProgram(of: room)
            let body = try await call.request.decode(StartHLSBody.self, whenEmpty: StartHLSBody())
            guard let hls else { throw StageError.hlsNotStarted("This gateway offers no playlists") }
            try check(body.layout, directory.room(room.sid).settings.layout)
            try hls.start(room: room.name)
            try await applyLayout(body.layout, in: room, by: call.claims)
            return try playlist(of: room, call)
        }

        api.command(.post, "rooms/:room/hls/stop") { call in
            let room = try broadcastRoom(call)
            guard let hls else { throw StageError.hlsNotStopped("This gateway offers no playlists") }
            try hls.stop(room: room.name)
            return try playlist(of: room, call)
        }
    }

    private func playlist(of room: RoomSummary, _ call: APICall) throws -> Response {
        try APIResponse.json(egress(of: room, addresses: addresses(for: call.request)).hls, status: .accepted)
    }
}

extension ControlRoutes {
    /// Refuses outputs of renditions that the program does not have.
    ///
    /// - Throws: 3073 naming the field.
    func requireRenditions(_ outputs: [OutputBody], of program: ProgramConfiguration) throws(StageError) {
        let names = program.ladder?.names ?? []
        for rendition in outputs.compactMap(\.rendition) where !names.contains(rendition) {
            let rule = names.isEmpty ? "must be left out" : "must be one of \(names.joined(separator: ", "))"
            throw .invalidParameter("outputs.rendition", rule)
        }
    }
}
