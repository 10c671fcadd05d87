import FootlightTesting
import Foundation
import Stage

/// One gateway with one room on it, and encoders that publish files into the room.
final class FaultStage: Sendable {
    /// A participant as the join answered.
    struct Seat: Sendable {
        let identity: String
        let sid: String
        /// Empty for whoever is no host.
        let key: String
    }

    let gateway: GatewayProcess
    let room: String
    let folder: TemporaryFolder

    /// - Parameters:
    ///   - linger: Seconds for which the program goes on once the room has ended.
    ///   - isPlain: Nothing is levelled, written on tiles or moved slowly; otherwise the room has the usual settings.
    ///   - audience: How many viewers the room may have; nil for any number.
    ///   - environment: Settings of the gateway.
    ///   - descriptors: How many files and connections it may have open.
    ///   - sockets: Those it is to listen with.
    init(
        room: String,
        linger: Int = 0,
        isPlain: Bool = true,
        audience: Int? = nil,
        environment: [String: String] = [:],
        descriptors: Int? = nil,
        sockets: KeptSockets? = nil
    ) async throws {
        self.room = room
        folder = try TemporaryFolder("faults")
        gateway = try await GatewayProcess(environment: environment, descriptors: descriptors, sockets: sockets)
        // Tones are measured: each is to be as loud as it was sent.
        let sound: JSONValue = isPlain ? ["levelling": false] : [:]
        var body: [String: JSONValue] = [
            "unique_name": .string(room), "sound": sound, "linger": .number(Double(linger)),
        ]
        if let audience { body["max_audience"] = .number(Double(audience)) }
        try await expect(201, "POST", "/v1/rooms", .object(body))
        guard isPlain else { return }
        // So are colours, and the moment of each change.
        let layout: JSONValue = ["transition_ms": 0, "overlays": ["name": false, "mic": false]]
        try await expect(200, "PUT", path("layout"), layout)
    }

    /// Puts a picture of one colour into the room.
    func storeAsset(_ name: String, _ colour: String = "red") async throws {
        let file = folder.file("\(name).gif")
        try await ChildProcess.run(
            [
                "ffmpeg", "-nostdin", "-loglevel", "error", "-f", "lavfi", "-i", "color=\(colour):s=16x16",
                "-frames:v", "1", file,
            ],
            within: .seconds(10)
        )
        let url = "http://127.0.0.1:\(gateway.endpoints.httpPort)" + path("assets/\(name)")
        let bearer = "Authorization: Bearer " + (try gateway.operatorToken)
        try await ChildProcess.run(
            ["curl", "-sS", "--fail", "-o", "/dev/null", "-T", file, "-H", bearer, url],
            within: .seconds(10)
        )
    }

    /// Sends a request and insists on its status.
    @discardableResult
    func expect(_ status: Int, _ method: String, _ path: String, _ body: JSONValue? = nil) async throws -> JSONValue {
        let reply = try await gateway.api(method, path, body)
        guard reply.status == status else {
            throw ToolFailure("\(method) \(path): \(reply.status) instead of \(status)", log: reply.text)
        }
        return reply.json
    }

    /// The path of something in the room, such as `egress`.
    func path(_ part: String) -> String { "/v1/rooms/\(room)/" + part }

    func join(_ identity: String, mode: String = "SEND_AND_RECV") async throws -> Seat {
        let body: JSONValue = ["identity": .string(identity), "mode": .string(mode)]
        let answer = try await expect(201, "POST", path("participants"), body)
        return Seat(
            identity: identity,
            sid: answer["participant"]["sid"].string ?? "",
            key: answer["ingest"]["rtmp"]["stream_key"].string ?? ""
        )
    }

    /// Encodes what a host sends, once.
    func clip(_ script: HostScript, seconds: Double = 8) async throws -> String {
        let path = folder.file("\(UUID().uuidString).flv")
        try await FFmpeg.encode(script, seconds: seconds, to: path)
        return path
    }

    /// Starts the encoder of a host.
    func publish(_ clip: String, as seat: Seat, isLooped: Bool = true) throws -> ChildProcess {
        try FFmpeg.host(file: clip, to: gateway.ingestURL(key: seat.key), isLooped: isLooped)
    }

    /// The place of a participant in the program as the layout tells it; nil when it is not on air.
    func tile(of seat: Seat) async throws -> TileRectangle? {
        let tiles = try await expect(200, "GET", path("layout"))["tiles"].elements
        return tiles.first { $0["participant_sid"].string == seat.sid }.map { tile in
            TileRectangle(
                x: tile["x"].int ?? 0,
                y: tile["y"].int ?? 0,
                width: tile["width"].int ?? 0,
                height: tile["height"].int ?? 0
            )
        }
    }

    /// Waits until each way of watching has a program.
    func waitUntilOnAir() async throws {
        let playlist = "/live/\(room)/index.m3u8"
        let isOnAir = try await eventually(within: .seconds(30), every: .milliseconds(100)) {
            try await self.gateway.request("GET", port: self.gateway.endpoints.httpPort, playlist).status == 200
        }
        guard isOnAir else { throw ToolFailure("no program after 30 s", log: gateway.log) }
    }

    /// One output as GET egress tells it.
    func output(_ name: String) async throws -> JSONValue {
        let outputs = try await expect(200, "GET", path("egress"))["livestream"]["outputs"].elements
        return outputs.first { $0["name"].string == name } ?? .null
    }

    /// Waits until an output reports one of these states.
    ///
    /// - Returns: Whether it did before the deadline.
    func waitForOutput(_ name: String, _ states: Set<String>) async throws -> Bool {
        try await eventually(every: .milliseconds(100)) {
            states.contains(try await self.output(name)["state"].string ?? "")
        }
    }
}

extension PictureFrame {
    /// The mean colour of a tile without its edges, which scaling and compression soften.
    ///
    /// - Parameter tile: On the program's canvas of 1280x720, of which this picture may be a smaller copy.
    func colour(of tile: TileRectangle) -> Colour {
        averageColour(
            x: (tile.x + 16) * width / 1280,
            y: (tile.y + 16) * height / 720,
            width: (tile.width - 32) * width / 1280,
            height: (tile.height - 32) * height / 720
        )
    }
}

extension Colour {
    /// The program where no tile is.
    static let background = Colour(red: 16, green: 16, blue: 18)
    /// The tile of a host without a picture.
    static let emptyTile = Colour(red: 52, green: 52, blue: 56)
}
