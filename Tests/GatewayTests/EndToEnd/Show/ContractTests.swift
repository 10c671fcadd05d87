import FootlightTesting
import Foundation
import Glibc
import Media
import TestSupport
import Testing

@Suite(
    "Contracts for other tools: endpoints, tokens, errors and termination",
    .enabled(if: TestRun.isFull),
    .serialized,
    .timeLimit(.minutes(2))
)
struct ContractTests {
    @Test("writes its ports to endpoints.json and logs each listener once")
    func endpoints() async throws {
        let gateway = try await GatewayProcess()
        let file = try text(gateway, "endpoints.json")
        let status = try JSONValue(parsing: file)
        guard case .object(let members) = status else {
            Issue.record("endpoints.json is no object: \(file)")
            return
        }
        #expect(members.keys.sorted() == ["admin_port", "http_port", "pid", "rtmp_port"])
        let ports = ["rtmp_port", "http_port", "admin_port"].compactMap { status[$0].int }
        #expect(Set(ports).count == 3 && ports.allSatisfy { $0 > 0 && FreePort.isListening($0) }, "\(file)")
        let pid = try #require(status["pid"].int)
        #expect(RunningProcess.arguments(of: Int32(pid)).contains("serve"))

        let listening = gateway.log.split(separator: "\n").filter { $0.contains("listening") }
        // Two more listeners are for mixers.
        #expect(listening.count == 5)
        for (listener, port) in zip(["RTMP", "HTTP", "admin"], ports) {
            let line = "listener=\(listener) port=\(port)"
            #expect(listening.count { $0.contains(line) } == 1, "\(line) is not in \(listening)")
        }
        for secret in ["operator.token", "signing.key", "pepper.key", "session.key"] {
            #expect(try mode(gateway, secret) == 0o600, "\(secret)")
        }
    }

    @Test("serves health on both ports and metrics on the admin port only")
    func health() async throws {
        let gateway = try await GatewayProcess()
        for port in [gateway.endpoints.httpPort, gateway.endpoints.adminPort] {
            for path in ["/livez", "/readyz"] {
                #expect(try await gateway.request("GET", port: port, path).status == 200)
            }
        }
        let metrics = try await gateway.request("GET", port: gateway.endpoints.adminPort, "/metrics")
        #expect(metrics.status == 200)
        #expect(metrics.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8")
        #expect(metrics.text.contains("\n# TYPE footlight_"))
        #expect(try await gateway.request("GET", port: gateway.endpoints.httpPort, "/metrics").status == 404)
    }

    @Test("a printed token admits its identity to its room in its mode only")
    func token() async throws {
        let gateway = try await GatewayProcess()
        try await gateway.api("POST", "/v1/rooms", ["unique_name": "show"])
        try await gateway.api("POST", "/v1/rooms", ["unique_name": "other"])
        let host = try await gateway.issueToken(room: "show", identity: "ada", mode: "SEND_AND_RECV")
        let joined = try await gateway.api(
            "POST",
            "/v1/rooms/show/participants",
            ["mode": "SEND_AND_RECV"],
            token: host
        )
        #expect(joined.status == 201, "\(joined.text)")
        #expect(joined.json["participant"]["identity"].string == "ada")
        let ingest = joined.json["ingest"]["rtmp"]
        #expect(ingest["url"].string == "rtmp://127.0.0.1:\(gateway.endpoints.rtmpPort)/live")
        #expect(ingest["stream_key"].string?.count ?? 0 >= 32)
        let playback = joined.json["playback"]
        #expect(playback["rtmp_url"].string?.hasPrefix(gateway.rtmpURL(room: "show") + "?sid=") == true)
        #expect(playback["flv_url"].string?.hasPrefix(gateway.flvURL(room: "show") + "?sid=") == true)
        #expect(playback["hls_url"].string?.hasPrefix(gateway.hlsURL(room: "show") + "?sid=") == true)

        let elsewhere = try await gateway.api(
            "POST",
            "/v1/rooms/other/participants",
            ["mode": "SEND_AND_RECV"],
            token: host
        )
        try expectError(elsewhere, status: 403, code: 20106)
        let viewer = try await gateway.issueToken(room: "show", identity: "eve", mode: "RECV_ONLY")
        let tooMuch = try await gateway.api(
            "POST",
            "/v1/rooms/show/participants",
            ["mode": "SEND_AND_RECV"],
            token: viewer
        )
        #expect(tooMuch.status == 403, "\(tooMuch.text)")
        let watching = try await gateway.api(
            "POST",
            "/v1/rooms/show/participants",
            ["mode": "RECV_ONLY"],
            token: viewer
        )
        #expect(watching.status == 201 && watching.json["ingest"] == .null, "\(watching.text)")
    }

    @Test("every error response has the same shape")
    func errors() async throws {
        let gateway = try await GatewayProcess()
        let port = gateway.endpoints.httpPort
        try expectError(try await gateway.api("GET", "/v1/rooms/none"), status: 404, code: 53106)
        try expectError(try await gateway.api("GET", "/v1/nothing/here"), status: 404)
        try expectError(try await gateway.api("GET", "/v1/rooms", token: ""), status: 401, code: 20101)
        try expectError(try await gateway.api("GET", "/v1/rooms", token: "no.token.atall"), status: 401, code: 20101)
        let headers = ["Authorization": "Bearer " + (try gateway.operatorToken), "Content-Type": "application/json"]
        let broken = try await gateway.request("POST", port: port, "/v1/rooms", headers: headers, body: "{\"unique_n")
        try expectError(broken, status: 400, code: 53004)
        let unnamed = try await gateway.api("POST", "/v1/rooms", ["unique_name": "a room"])
        try expectError(unnamed, status: 400)
        #expect(try await gateway.api("POST", "/v1/rooms", ["unique_name": "twice"]).status == 201)
        try expectError(
            try await gateway.api("POST", "/v1/rooms", ["unique_name": "twice"]),
            status: 409,
            code: 53113
        )
    }

    @Test("refuses an oversized header and serves the next connection")
    func header() async throws {
        let gateway = try await GatewayProcess()
        let port = gateway.endpoints.httpPort
        let long = try? await gateway.request(
            "GET",
            port: port,
            "/livez",
            headers: ["X-Much": String(repeating: "x", count: 20_000)]
        )
        #expect(long.map { $0.status } ?? 431 >= 400, "\(String(describing: long))")
        let fits = ["X-Some": String(repeating: "x", count: 8_000)]
        #expect(try await gateway.request("GET", port: port, "/livez", headers: fits).status == 200)
    }

    @Test("raises the soft limit of open files to the hard limit")
    func descriptors() async throws {
        let gateway = try await GatewayProcess()
        let limits = try String(contentsOfFile: "/proc/\(gateway.endpoints.pid)/limits", encoding: .utf8)
        let line = try #require(limits.split(separator: "\n").first { $0.hasPrefix("Max open files") })
        let numbers = line.split(separator: " ").compactMap { Int($0) }
        #expect(numbers.count == 2 && numbers[0] == min(numbers[1], 1 << 20), "\(line)")
    }

    @Test("refuses an output to one of its own listeners")
    func ownListeners() async throws {
        let gateway = try await GatewayProcess()
        try await gateway.api("POST", "/v1/rooms", ["unique_name": "show"])
        let ports = gateway.endpoints
        for port in [ports.rtmpPort, ports.httpPort, ports.adminPort] {
            let output: JSONValue = ["url": .string("rtmp://127.0.0.1:\(port)/live"), "stream_key": "show"]
            let reply = try await gateway.api("POST", "/v1/rooms/show/livestream/start", ["outputs": [output]])
            try expectError(reply, status: 400, code: 4015)
        }
    }

    @Test("SIGTERM ends gateway and mixers within five seconds, and the next start has the same keys")
    func termination() async throws {
        let gateway = try await GatewayProcess()
        let (operatorToken, former) = (try gateway.operatorToken, gateway.endpoints)
        let hostToken = try await gateway.issueToken(room: "show", identity: "ada", mode: "SEND_AND_RECV")
        let mixer = try await mixer(of: "show", on: gateway, host: hostToken)

        let asked = MonotonicTime.now()
        let exit = try await gateway.terminate(within: .seconds(10))
        let seconds = MonotonicTime.now().seconds(since: asked)
        print("SIGTERM: the gateway and its mixer were gone after", Int(seconds * 1000), "ms")
        #expect(exit == .code(0) && seconds < 5, "\(String(describing: exit)) after \(seconds) s\n\(gateway.log)")
        #expect(!RunningProcess.isAlive(mixer))
        #expect(!FileManager.default.fileExists(atPath: gateway.dataFolder + "/endpoints.json"))

        let begun = MonotonicTime.now()
        try await gateway.start(reusesPorts: true)
        #expect(MonotonicTime.now().seconds(since: begun) < 3)
        #expect(gateway.endpoints.rtmpPort == former.rtmpPort && gateway.endpoints.pid != former.pid)
        #expect(try gateway.operatorToken == operatorToken)
        #expect(try await gateway.api("GET", "/v1/rooms").status == 200)
        try await gateway.api("POST", "/v1/rooms", ["unique_name": "show"])
        #expect(try await gateway.api("GET", "/v1/rooms/show", token: hostToken).status == 200)
    }

    @Test("leaves no mixer behind after a kill")
    func killed() async throws {
        let gateway = try await GatewayProcess()
        let host = try await gateway.issueToken(room: "show", identity: "ada", mode: "SEND_AND_RECV")
        let mixer = try await mixer(of: "show", on: gateway, host: host)
        let killed = MonotonicTime.now()
        try await gateway.kill9()
        #expect(try await eventually { !RunningProcess.isAlive(mixer) })
        print("SIGKILL: the mixer was gone after", Int(MonotonicTime.now().seconds(since: killed) * 1000), "ms")
    }

    // MARK: Steps

    private func text(_ gateway: GatewayProcess, _ name: String) throws -> String {
        try String(contentsOfFile: gateway.dataFolder + "/" + name, encoding: .utf8)
    }

    private func mode(_ gateway: GatewayProcess, _ name: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: gateway.dataFolder + "/" + name)[.posixPermissions] as? Int
    }

    /// Creates a room with a host and waits for its mixer.
    private func mixer(of room: String, on gateway: GatewayProcess, host: String) async throws -> Int32 {
        try await gateway.api("POST", "/v1/rooms", ["unique_name": .string(room)])
        let body: JSONValue = ["mode": "SEND_AND_RECV"]
        let reply = try await gateway.api("POST", "/v1/rooms/\(room)/participants", body, token: host)
        #expect(reply.status == 201)
        _ = try await eventually { gateway.log.contains("program is on air") }
        return try #require(gateway.mixers(of: room).first, "no mixer\n\(gateway.log)")
    }

    /// Checks the shape of an error response, its status, and its code if given.
    private func expectError(
        _ reply: GatewayResponse,
        status: Int,
        code: Int? = nil,
        at location: SourceLocation = #_sourceLocation
    ) throws {
        let error = reply.json["error"]
        #expect(reply.status == status && error["status"].int == status, "\(reply.text)", sourceLocation: location)
        if let code { #expect(error["code"].int == code, "\(reply.text)", sourceLocation: location) }
        guard case .object(let members) = error else {
            Issue.record("no error object: \(reply.text)", sourceLocation: location)
            return
        }
        let names = [
            "cause", "code", "message", "more_info", "name", "retry_after", "retryable", "solution", "status",
        ]
        #expect(members.keys.sorted() == names, sourceLocation: location)
        for name in ["cause", "message", "name", "solution"] {
            #expect(error[name].string?.isEmpty == false, "\(name): \(reply.text)", sourceLocation: location)
        }
        let page = "/docs/errors/\(error["code"].int ?? 0)"
        #expect(error["more_info"].string?.hasSuffix(page) == true, sourceLocation: location)
        #expect(error["retryable"].bool == (status >= 500), sourceLocation: location)
        #expect(reply.headers["content-type"]?.hasPrefix("application/json") == true, sourceLocation: location)
    }
}
