import FootlightModel
import HTTPTypes
import Hummingbird
import Stage

/// Routes for the livestream of a room, its outputs, and HLS.
struct LivestreamRoutes: FeatureRoutes {
    let rooms: RoomAccess
    let answers: RoomAnswers
    let livestreams: any LivestreamControlling
    /// Nil if the gateway offers no HLS.
    let hls: (any HLSControlling)?

    func add(to api: APIRoutes) {
        api.command(.post, "rooms/:room/livestream/start") { call in
            let room = try rooms.broadcastRoom(call)
            try rooms.admitProgram(of: room)
            let body = try await call.decode(StartLivestreamBody.self)
            let settings = try rooms.directory.room(room.sid).settings
            let start = try LivestreamStart(body, program: settings.program, by: call.claims)
            try check(body.layout, settings.layout)
            try livestreams.start(room: room.name, targets: start.targets, options: start.options)
            try await applyLayout(body.layout, in: room, by: call.claims)
            return try livestream(of: room, status: .accepted)
        }

        api.command(.post, "rooms/:room/livestream/stop") { call in
            let room = try rooms.broadcastRoom(call)
            try livestreams.stop(room: room.name)
            return try livestream(of: room, status: .accepted)
        }

        api.command(.post, "rooms/:room/livestream/outputs") { call in
            let room = try rooms.broadcastRoom(call)
            let body = try await call.request.decode(AddOutputsBody.self)
            let program = try rooms.directory.room(room.sid).settings.program
            try body.outputs.requireRenditions(of: program)
            let taken = livestreams.status(room: room.name).outputs.map(\.name)
            let targets = try OutputTarget.targets(
                of: body.outputs,
                beside: taken,
                program: program,
                isOperator: call.claims.role == .operator
            )
            try livestreams.add(targets, room: room.name)
            return try livestream(of: room, status: .accepted)
        }

        api.command(.delete, "rooms/:room/livestream/outputs/:output") { call in
            let room = try rooms.broadcastRoom(call)
            try livestreams.remove(output: call.path("output"), room: room.name)
            return try livestream(of: room, status: .ok)
        }

        api.command(.post, "rooms/:room/livestream/outputs/:output/retry") { call in
            let room = try rooms.broadcastRoom(call)
            try livestreams.retry(output: call.path("output"), room: room.name)
            return try livestream(of: room, status: .accepted)
        }

        api.read("rooms/:room/egress") { call in
            let room = try rooms.readableRoom(call)
            return try APIResponse.json(answers.egress(of: room, addresses: answers.addresses(for: call.request)))
        }

        api.command(.post, "rooms/:room/hls/start") { call in
            let room = try rooms.broadcastRoom(call)
            try rooms.admitProgram(of: room)
            let body = try await call.decode(StartHLSBody.self, whenEmpty: StartHLSBody())
            guard let hls else { throw StageError.hlsNotStarted("This gateway offers no playlists") }
            try check(body.layout, rooms.directory.room(room.sid).settings.layout)
            try hls.start(room: room.name)
            try await applyLayout(body.layout, in: room, by: call.claims)
            return try playlist(of: room, call)
        }

        api.command(.post, "rooms/:room/hls/stop") { call in
            let room = try rooms.broadcastRoom(call)
            guard let hls else { throw StageError.hlsNotStopped("This gateway offers no playlists") }
            try hls.stop(room: room.name)
            return try playlist(of: room, call)
        }
    }

    /// Validates the layout of a start request before anything is started.
    private func check(_ body: LayoutBody?, _ present: LayoutSettings) throws(StageError) {
        var settings = present
        try settings.applyStart(body, path: "layout.", isOperator: false)
    }

    /// Applies the layout of a start request, if there is one.
    private func applyLayout(_ body: LayoutBody?, in room: some NamedRoom, by claims: AccessClaims) async throws {
        guard let body else { return }
        _ = try rooms.directory.setLayout(room: room.sid) { (settings) throws(StageError) in
            try settings.apply(body, path: "layout.", isOperator: claims.role == .operator)
        }
        await rooms.save(room)
    }

    private func livestream(of room: RoomSummary, status: HTTPResponse.Status) throws -> Response {
        try APIResponse.json(LivestreamResource(livestreams.status(room: room.name)), status: status)
    }

    private func playlist(of room: RoomSummary, _ call: APICall) throws -> Response {
        try APIResponse.json(
            answers.egress(of: room, addresses: answers.addresses(for: call.request)).hls,
            status: .accepted
        )
    }
}

/// A validated request to start a livestream.
struct LivestreamStart {
    let targets: [OutputTarget]
    let options: LivestreamOptions

    /// Parses a request, whose options must match the program of the room.
    init(_ body: StartLivestreamBody, program: ProgramConfiguration, by claims: AccessClaims) throws(StageError) {
        options = try LivestreamOptions(body)
        try options.validate()
        try options.requireMatch(program)
        try body.outputs.requireRenditions(of: program)
        targets = try OutputTarget.targets(
            of: body.outputs,
            beside: [],
            program: program,
            isOperator: claims.role == .operator
        )
    }
}

extension [OutputBody] {
    /// Refuses outputs of renditions that the program does not have.
    ///
    /// - Throws: 3073 naming the field.
    func requireRenditions(of program: ProgramConfiguration) throws(StageError) {
        let names = program.ladder?.names ?? []
        for rendition in compactMap(\.rendition) where !names.contains(rendition) {
            let rule = names.isEmpty ? "must be left out" : "must be one of \(names.joined(separator: ", "))"
            throw .invalidParameter("outputs.rendition", rule)
        }
    }
}
