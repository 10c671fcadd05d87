import GatewayModel
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
            try await arrange(body.layout, in: room, by: call.claims)
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
            return try Reply.json(egress(of: room, addresses: addresses(for: call.request)))
        }
    }

    /// What a start asks for; it must be what the room's program is.
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

    /// How a room's program leaves.
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

    /// Refuses a layout that cannot be had, before anything begins that it was to come along with.
    func check(_ body: LayoutBody?, _ present: LayoutSettings) throws(StageError) {
        guard let body else { return }
        var settings = present
        try settings.take(body, path: "layout.")
        try settings.validate(path: "layout.")
    }

    /// Changes the layout along with a start, if that is asked for.
    func arrange(_ body: LayoutBody?, in room: some NamedRoom, by claims: AccessClaims) async throws {
        guard let body else { return }
        _ = try directory.setLayout(room: room.sid) { (settings) throws(StageError) in
            try settings.take(body, path: "layout.", isOperator: claims.role == .operator)
        }
        await keep(room)
    }

    private func livestream(of room: RoomSummary, status: HTTPResponse.Status) throws -> Response {
        try Reply.json(LivestreamResource(livestreams.status(room: room.name)), status: status)
    }
}
