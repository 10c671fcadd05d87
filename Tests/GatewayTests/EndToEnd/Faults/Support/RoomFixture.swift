import FootlightTesting
import Foundation
import Stage
import TestSupport

/// A gateway process with one room, and encoders that publish files into it.
final class RoomFixture: Sendable {
    /// A participant with the credentials of its join.
    struct Participant: Sendable {
        let identity: String
        let sid: String
        /// The stream key; empty unless the participant is a host.
        let key: String
    }

    let gateway: GatewayProcess
    let room: String
    let folder: TemporaryFolder

    /// - Parameters:
    ///   - linger: The linger time in seconds.
    ///   - isUnprocessed: Whether to turn off loudness normalization, overlays and transitions.
    ///   - audience: The audience limit; nil for none.
    ///   - program: The size and rates of the program; nil for the defaults.
    ///   - environment: The gateway's environment variables.
    ///   - descriptors: The limit on open files.
    ///   - sockets: The listening sockets to pass.
    init(
        room: String,
        linger: Int = 0,
        isUnprocessed: Bool = true,
        audience: Int? = nil,
        program: JSONValue? = nil,
        environment: [String: String] = [:],
        descriptors: Int? = nil,
        sockets: ListeningSockets? = nil
    ) async throws {
        self.room = room
        folder = try TemporaryFolder("faults")
        gateway = try await GatewayProcess(environment: environment, descriptors: descriptors, sockets: sockets)
        // Tests measure the levels of tones.
        let audio: JSONValue = isUnprocessed ? ["levelling": false] : [:]
        var body: [String: JSONValue] = [
            "unique_name": .string(room), "sound": audio, "linger": .number(Double(linger)),
        ]
        if let audience { body["max_audience"] = .number(Double(audience)) }
        if let program { body["program"] = program }
        try await expect(201, "POST", "/v1/rooms", .object(body))
        guard isUnprocessed else { return }
        // Tests measure colours and the times of changes.
        let layout: JSONValue = ["transition_ms": 0, "overlays": ["name": false, "mic": false]]
        try await expect(200, "PUT", path("layout"), layout)
    }

    /// Uploads an image of one colour.
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

    /// Sends a request; throws for any other status.
    @discardableResult
    func expect(_ status: Int, _ method: String, _ path: String, _ body: JSONValue? = nil) async throws -> JSONValue {
        let reply = try await gateway.api(method, path, body)
        guard reply.status == status else {
            throw ToolFailure("\(method) \(path): \(reply.status) instead of \(status)", log: reply.text)
        }
        return reply.json
    }

    /// Returns the path of a resource of the room, such as `egress`.
    func path(_ part: String) -> String { "/v1/rooms/\(room)/" + part }

    func join(_ identity: String, mode: String = "SEND_AND_RECV") async throws -> Participant {
        let body: JSONValue = ["identity": .string(identity), "mode": .string(mode)]
        let answer = try await expect(201, "POST", path("participants"), body)
        return Participant(
            identity: identity,
            sid: answer["participant"]["sid"].string ?? "",
            key: answer["ingest"]["rtmp"]["stream_key"].string ?? ""
        )
    }

    /// Encodes a clip for a host.
    func clip(_ script: HostScript, seconds: Double = 8) async throws -> String {
        let path = folder.file("\(UUID().uuidString).flv")
        try await FFmpeg.encode(script, seconds: seconds, to: path)
        return path
    }

    /// Starts the encoder of a host.
    func publish(_ clip: String, as participant: Participant, isLooped: Bool = true) throws -> ChildProcess {
        try FFmpeg.host(file: clip, to: gateway.ingestURL(key: participant.key), isLooped: isLooped)
    }

    /// Returns the tile of a participant in the layout; nil without one.
    func tile(of participant: Participant) async throws -> TileRectangle? {
        let tiles = try await expect(200, "GET", path("layout"))["tiles"].elements
        return tiles.first { $0["participant_sid"].string == participant.sid }.map { tile in
            TileRectangle(
                x: tile["x"].int ?? 0,
                y: tile["y"].int ?? 0,
                width: tile["width"].int ?? 0,
                height: tile["height"].int ?? 0
            )
        }
    }

    /// Waits until the HLS playlist is available.
    func waitUntilOnAir() async throws {
        let playlist = "/live/\(room)/index.m3u8"
        let isOnAir = try await eventually(within: .seconds(30), every: .milliseconds(100)) {
            try await self.gateway.request("GET", port: self.gateway.endpoints.httpPort, playlist).status == 200
        }
        guard isOnAir else { throw ToolFailure("no program after 30 s", log: gateway.log) }
    }

    /// Returns an output of the egress resource.
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

extension RGBFrame {
    /// Returns the mean colour of a tile without its edges, which scaling and compression blur.
    ///
    /// - Parameter tile: A rectangle on the canvas of 1280x720; this frame may be scaled.
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
    /// The program's background.
    static let background = Colour(red: 16, green: 16, blue: 18)
    /// The tile of a host without video.
    static let emptyTile = Colour(red: 52, green: 52, blue: 56)
}
