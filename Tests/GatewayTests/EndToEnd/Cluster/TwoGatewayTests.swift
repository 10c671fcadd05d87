import FootlightTesting
import Foundation
import Media
import TestSupport
import Testing

@Suite(
    "Two gateways as one",
    .enabled(if: TestRun.isFull && PostgresServers.programs != nil),
    .serialized,
    .timeLimit(.minutes(3))
)
struct TwoGatewayTests {
    /// Two gateways, `a` and `b`, with one database and one signing key.
    private struct Nodes {
        let database: PostgresServers
        let a: GatewayProcess
        let b: GatewayProcess
        let folder: TemporaryFolder

        init() async throws {
            let database = try await PostgresServers(hasStandby: false)
            let folder = try TemporaryFolder("cluster")
            let key = try folder.write(UUID().uuidString, to: "cluster.key")
            func start(_ node: String, signingKey: String? = nil) async throws -> GatewayProcess {
                let data = folder.file(node)
                try FileManager.default.createDirectory(atPath: data, withIntermediateDirectories: true)
                if let signingKey {
                    try FileManager.default.copyItem(atPath: signingKey, toPath: data + "/signing.key")
                }
                let port = try FreePort.pick()
                let environment = [
                    "FOOTLIGHT_CLUSTER_DSN": database.connection(0), "FOOTLIGHT_CLUSTER_KEY": key,
                    "FOOTLIGHT_CLUSTER_NODE": node, "FOOTLIGHT_CLUSTER_ADDRESS": "http://127.0.0.1:\(port)",
                ]
                return try await GatewayProcess(
                    arguments: ["--http-port", "\(port)"],
                    environment: environment,
                    dataFolder: data
                )
            }
            let first = try await start("a")
            let second = try await start("b", signingKey: first.dataFolder + "/signing.key")
            let areUp = try await eventually {
                for gateway in [first, second] where try await Self.states(at: gateway) != ["a up", "b up"] {
                    return false
                }
                return true
            }
            guard areUp else { throw ToolFailure("the gateways do not know each other", log: first.log + second.log) }
            (self.database, self.folder, a, b) = (database, folder, first, second)
        }

        /// The names and states of the nodes as one of them knows them.
        static func states(at gateway: GatewayProcess) async throws -> [String] {
            try await gateway.api("GET", "/v1/nodes").json["nodes"].elements.map {
                "\($0["name"].string ?? "") \($0["state"].string ?? "")"
            }
        }
    }

    /// Sends a request; throws for any other status.
    @discardableResult
    private func expect(
        _ status: Int,
        _ method: String,
        _ path: String,
        _ body: JSONValue? = nil,
        at gateway: GatewayProcess
    ) async throws -> JSONValue {
        let reply = try await gateway.api(method, path, body)
        guard reply.status == status else {
            throw ToolFailure("\(method) \(path): \(reply.status) instead of \(status)", log: reply.text)
        }
        return reply.json
    }

    @Test("a room of one node is controlled, played and counted at the other one")
    func room() async throws {
        let nodes = try await Nodes()
        let (a, b) = (nodes.a, nodes.b)
        let settings: JSONValue = ["unique_name": "show", "sound": ["levelling": false]]
        let made = try await expect(201, "POST", "/v1/rooms", settings, at: a)
        let sid = try #require(made["sid"].string)
        // The answer waits until the other node has read of it.
        for reference in ["show", sid] {
            let isKnown = try await eventually(within: .seconds(2)) {
                let room = try await b.api("GET", "/v1/rooms/\(reference)").json
                return room["sid"].string == sid && room["node"].string == "a"
            }
            #expect(isKnown)
        }
        #expect(try await expect(409, "POST", "/v1/rooms", settings, at: b)["error"]["code"].int == 53113)
        try await expect(201, "POST", "/v1/rooms", ["unique_name": "other"], at: b)
        for gateway in [a, b] {
            let list = try await expect(200, "GET", "/v1/rooms", at: gateway)
            #expect(list["rooms"].elements.map { $0["unique_name"].string } == ["show", "other"])
            #expect(list["unreachable_nodes"] == .null)
        }

        // Control at b.
        let layout: JSONValue = ["transition_ms": 0, "overlays": ["name": false, "mic": false]]
        try await expect(200, "PUT", "/v1/rooms/show/layout", layout, at: b)
        let events = try EventLog(of: "show", on: b)
        _ = try await events.wait(for: "room.snapshot")
        let join: JSONValue = ["identity": "red", "mode": "SEND_AND_RECV"]
        let host = try await expect(201, "POST", "/v1/rooms/show/participants", join, at: b)
        let joined = try await events.wait(for: "participant.joined")
        #expect(joined.data["participant"]["identity"].string == "red", "\(joined.data.text)")
        let name: JSONValue = ["display_name": "Ada"]
        try await expect(200, "PATCH", "/v1/rooms/show/participants/red", name, at: b)
        let present = try await expect(200, "GET", "/v1/rooms/show/participants/red", at: a)
        #expect(present["display_name"].string == "Ada")

        // The program by b: of the red host at a.
        let clip = nodes.folder.file("red.flv")
        var script = HostScript(.red, tone: 440)
        // With an explicit matrix the colour is unambiguous.
        script.video?.isBT709 = true
        try await FFmpeg.encode(script, seconds: 8, to: clip)
        let key = host["ingest"]["rtmp"]["stream_key"].string ?? ""
        let encoder = try FFmpeg.host(file: clip, to: a.ingestURL(key: key))
        let isOnAir = try await eventually(within: .seconds(30), every: .milliseconds(100)) {
            try await b.request("GET", port: b.endpoints.httpPort, "/live/show/index.m3u8").status == 200
        }
        try #require(isOnAir, "\(a.log.suffix(3000)) \(b.log.suffix(3000))")
        let levels = try ChildProcess([
            "curl", "-sN", "-H", "Authorization: Bearer \(try b.operatorToken)",
            "http://127.0.0.1:\(b.endpoints.httpPort)/v1/rooms/show/levels",
        ])
        #expect(try await eventually { levels.standardOutput.contains("event: levels") })
        let image = nodes.folder.file("snapshot.jpg")
        try await ChildProcess.run([
            "curl", "-sS", "--fail", "-o", image, "-H", "Authorization: Bearer \(try b.operatorToken)",
            "http://127.0.0.1:\(b.endpoints.httpPort)/v1/rooms/show/snapshot.jpg",
        ])
        #expect(try Data(contentsOf: URL(fileURLWithPath: image)).starts(with: [0xFF, 0xD8]))
        // Players begin three segments back, where the host must be visible already.
        try await Task.sleep(for: .seconds(8))
        let recorders = [
            try FFmpeg.record(b.hlsURL(room: "show"), seconds: 4, to: nodes.folder.file("hls.mkv")),
            try FFmpeg.record(b.flvURL(room: "show"), seconds: 4, to: nodes.folder.file("flv.mkv")),
        ]
        for recorder in recorders {
            let recording = try await recorder.finish()
            let frame = try await recording.frame(at: 2)
            let colour = frame.averageColour(x: 100, y: 50, width: frame.width - 200, height: frame.height / 2)
            #expect(colour.distance(to: .red) <= 6, "\(recording.path): \(colour)")
        }

        // A viewer at b is one viewer at both, under its own address.
        let player = HLSPlayer(b.hlsURL(room: "show"))
        var counts: [Int?] = []
        let isCounted = try await eventually(within: .seconds(30), every: .milliseconds(250)) {
            counts = []
            for gateway in [a, b] {
                let report = try await self.expect(200, "GET", "/v1/rooms/show/viewership", at: gateway)
                counts.append(report["concurrent_viewers"].int)
            }
            return counts == [1, 1]
        }
        #expect(isCounted, "\(counts)")
        #expect(encoder.isRunning)
        let metrics = try await b.request("GET", port: b.endpoints.adminPort, "/metrics").text
        let answered = metrics.firstMatch(of: /footlight_cluster_forwarded_total\{outcome="answered"\} (\d+)/)
        #expect(answered.flatMap { Int($0.1) } ?? 0 > 10, "\(metrics.suffix(2000))")
        let lease = metrics.firstMatch(of: /footlight_cluster_lease_seconds ([0-9.]+)/)
        #expect(lease.flatMap { Double($0.1) } ?? 0 > 0)
        await player.leave()

        // Streams that are forwarded end when the gateway does.
        #expect(events.isOpen && levels.isRunning)
        let flv = try ChildProcess(["curl", "-sN", "-o", "/dev/null", b.flvURL(room: "show")])
        try await Task.sleep(for: .seconds(1))
        let began = MonotonicTime.now()
        #expect(try await b.terminate() == .code(0))
        #expect(MonotonicTime.now().seconds(since: began) < 5)
        #expect(!events.isOpen && !levels.isRunning && !flv.isRunning)
        #expect(encoder.isRunning)
    }

    @Test("a request that pretends to come from a node is refused, and what only nodes may state is ignored")
    func forgery() async throws {
        let nodes = try await Nodes()
        let port = nodes.a.endpoints.httpPort
        try await expect(201, "POST", "/v1/rooms", ["unique_name": "show"], at: nodes.a)
        let time = Int(Date().timeIntervalSince1970)
        let token = "Bearer " + (try nodes.a.operatorToken)
        for path in ["/live/show/index.m3u8", "/v1/rooms/show"] {
            for signature in ["b \(time) \(Data(repeating: 1, count: 32).base64EncodedString())", "b", "x y z"] {
                let fields = [
                    "X-Footlight-Signature": signature, "X-Footlight-Origin": "md;203.0.113.1;", "Authorization": token,
                ]
                let reply = try await nodes.a.request("GET", port: port, path, headers: fields)
                #expect(reply.status == 403 && reply.json["error"]["code"].int == 53444, "\(path) \(signature)")
            }
        }
        // Without a signature it is a request like any other.
        let fields = ["X-Footlight-Origin": "md;203.0.113.1;", "X-Footlight-Node": "b", "Authorization": token]
        #expect(try await nodes.a.request("GET", port: port, "/v1/rooms/show", headers: fields).status == 200)
    }

    @Test("a node that is killed is missed at once; without the database rooms go on and new ones are refused")
    func faults() async throws {
        let nodes = try await Nodes()
        let (a, b) = (nodes.a, nodes.b)
        for (name, gateway) in [("far", a), ("near", b)] {
            let room: JSONValue = ["unique_name": .string(name)]
            try await expect(201, "POST", "/v1/rooms", room, at: gateway)
        }
        nodes.database.kill(0)
        let isRefused = try await eventually {
            try await b.api("POST", "/v1/rooms", ["unique_name": "new"]).json["error"]["code"].int == 53443
        }
        #expect(isRefused)
        try await Task.sleep(for: .seconds(3))
        for name in ["far", "near"] { try await expect(200, "GET", "/v1/rooms/\(name)", at: b) }
        try await nodes.database.start(0)
        let isAccepted = try await eventually {
            try await b.api("POST", "/v1/rooms", ["unique_name": "new"]).status == 201
        }
        #expect(isAccepted)
        for name in ["far", "near"] { try await expect(200, "GET", "/v1/rooms/\(name)", at: b) }

        try await a.kill9()
        let killed = MonotonicTime.now()
        for path in ["/v1/rooms/far", "/v1/rooms/far/viewership"] {
            let reply = try await b.api("GET", path)
            #expect(reply.status == 503 && reply.json["error"]["code"].int == 53440, "\(reply.text)")
            #expect(reply.headers["retry-after"] == "2")
        }
        let update = try await b.api("PUT", "/v1/rooms/far/layout", ["kind": "GRID"])
        #expect(update.json["error"]["code"].int == 53440, "\(update.text)")
        for path in ["/live/far/index.m3u8", "/live/far.flv", "/watch/far/status"] {
            let reply = try await b.request("GET", port: b.endpoints.httpPort, path)
            #expect(reply.status == 503 && reply.json["error"]["code"].int == 53440, "\(path): \(reply.text)")
        }
        #expect(MonotonicTime.now().seconds(since: killed) < 2)
        let list = try await expect(200, "GET", "/v1/rooms", at: b)
        #expect(list["rooms"].elements.map { $0["unique_name"].string } == ["near", "new"])
        #expect(list["unreachable_nodes"].elements == [.string("a")])
        let isLost = try await eventually { try await Nodes.states(at: b) == ["a lost", "b up"] }
        #expect(isLost)
        #expect(try await b.api("GET", "/v1/rooms/far").json["error"]["code"].int == 53440)

        // Its rooms wait for it.
        try await a.start(reusesPorts: true)
        let isBack = try await eventually { try await b.api("GET", "/v1/rooms/far").status == 200 }
        #expect(isBack, "\(a.log.suffix(3000))")
        try await expect(200, "POST", "/v1/rooms/far", ["status": "completed"], at: b)
        let isFree = try await eventually {
            try await b.api("POST", "/v1/rooms", ["unique_name": "far"]).status == 201
        }
        #expect(isFree)
        let isElsewhere = try await eventually {
            try await a.api("GET", "/v1/rooms/far").json["node"].string == "b"
        }
        #expect(isElsewhere)
    }
}
