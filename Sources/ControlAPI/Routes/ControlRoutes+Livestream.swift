import GatewayModel
import HTTPTypes
import Hummingbird
import Stage

extension ControlRoutes {
    func addLivestream(to api: RouterGroup<BasicRequestContext>) {
        api.post("rooms/:room/livestream/start") { request, context in
            let room = try await streamingRoom(request, context)
            let body = try await request.decode(StartLivestreamBody.self)
            try body.check(against: room.settings.program)
            let targets = try targets(of: body.outputs, beside: [])
            try livestreams.start(room: room.name, targets: targets)
            return try Reply.json(LivestreamResource(livestreams.status(room: room.name)), status: .accepted)
        }

        api.post("rooms/:room/livestream/stop") { request, context in
            let room = try await streamingRoom(request, context)
            try livestreams.stop(room: room.name)
            return try Reply.json(LivestreamResource(livestreams.status(room: room.name)), status: .accepted)
        }

        api.post("rooms/:room/livestream/outputs") { request, context in
            let room = try await streamingRoom(request, context)
            let body = try await request.decode(AddOutputsBody.self)
            let taken = livestreams.status(room: room.name).outputs.map(\.name)
            for target in try targets(of: body.outputs, beside: taken) {
                try livestreams.add(target, room: room.name)
            }
            return try Reply.json(LivestreamResource(livestreams.status(room: room.name)), status: .accepted)
        }

        api.delete("rooms/:room/livestream/outputs/:output") { request, context in
            let room = try await streamingRoom(request, context)
            try livestreams.remove(output: context.parameters.get("output") ?? "", room: room.name)
            return try Reply.json(LivestreamResource(livestreams.status(room: room.name)))
        }

        api.get("rooms/:room/egress") { request, context in
            let claims = try await authenticate(request)
            let room = try liveRoom(context, for: claims)
            try claims.requireReading(room)
            return try Reply.json(EgressResource(livestreams.status(room: room.name)))
        }
    }

    private func streamingRoom(
        _ request: Request,
        _ context: BasicRequestContext
    ) async throws(StageError) -> RoomView {
        let claims = try await authenticate(request)
        let room = try liveRoom(context, for: claims)
        try claims.require(.streaming, in: room)
        return room
    }

    /// The outputs with their names: given ones are checked, missing ones made up.
    private func targets(of bodies: [OutputBody], beside taken: [String]) throws(StageError) -> [OutputTarget] {
        guard !bodies.isEmpty else { throw .outputInvalid("outputs must name at least one output") }
        var names = Set(taken)
        for name in bodies.compactMap(\.name) {
            guard NameRule.check(name) == nil else {
                throw .outputInvalid("the name of an output must have 1 to 64 characters of A-Z, a-z, 0-9, _ and -")
            }
            guard names.insert(name).inserted else { throw .outputInvalid("there is an output named \(name) already") }
        }
        var number = 0
        return bodies.map { body in
            var name = body.name
            while name == nil {
                number += 1
                let candidate = "output-\(number)"
                if names.insert(candidate).inserted { name = candidate }
            }
            return OutputTarget(name: name ?? "", url: body.url, streamKey: body.streamKey)
        }
    }
}

extension StartLivestreamBody {
    /// The program of a room is made once for all who watch; a livestream can ask for it, but not for another one.
    fileprivate func check(against program: ProgramConfiguration) throws(StageError) {
        if let quality {
            guard let known = ProgramQuality(rawValue: quality) else {
                let names = ProgramQuality.allCases.map(\.rawValue).joined(separator: ", ")
                throw .invalidParameter("quality", "must be one of \(names)")
            }
            try Self.check("quality", known.height, is: min(program.width, program.height))
        }
        if let width, width % 2 != 0 { throw .invalidParameter("width", "must be even") }
        if let height, height % 2 != 0 { throw .invalidParameter("height", "must be even") }
        try Self.check("width", width, is: program.width)
        try Self.check("height", height, is: program.height)
        try Self.check("video_bitrate", videoBitrate, in: 10...10_000, is: program.videoBitrate)
        try Self.check("audio_bitrate", audioBitrate, in: 10...320, is: program.audioBitrate)
        if let fps {
            guard let rate = FrameRate(fps.text) else { throw .invalidParameter("fps", "must be between 1 and 60") }
            guard rate == program.frameRate else {
                throw .invalidParameter("fps", "must be \(Rate(program.frameRate).text), as the room's program is made")
            }
        }
    }

    private static func check(
        _ field: String,
        _ value: Int?,
        in range: ClosedRange<Int>? = nil,
        is made: Int
    ) throws(StageError) {
        guard let value else { return }
        if let range, !range.contains(value) {
            throw .invalidParameter(field, "must be between \(range.lowerBound) and \(range.upperBound)")
        }
        guard value == made else {
            throw .invalidParameter(field, "must be \(made), as the room's program is made")
        }
    }
}
