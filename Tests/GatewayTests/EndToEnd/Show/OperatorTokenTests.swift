import ControlAPI
import FootlightTesting
import Foundation
@testable import Gateway
import Media
import Stage
import TestSupport
import Testing

@Suite("Tokens of a running gateway", .enabled(if: TestRun.isFull), .serialized, .timeLimit(.minutes(1)))
struct OperatorTokenTests {
    /// Runs `footlight` and returns its output.
    private func run(_ command: String, _ arguments: String..., on gateway: GatewayProcess) async throws -> String {
        try await ChildProcess.run(
            [GatewayProcess.findBinary(), command, "--data-dir", gateway.dataFolder] + arguments
        ).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private func tokens(of gateway: GatewayProcess) async throws -> AccessTokens {
        let directory = try DataDirectory(gateway.dataFolder)
        return await AccessTokens(
            signingKey: try directory.secret("signing"),
            kid: try KeyRotation.currentName(in: directory)
        )
    }

    @Test("the audit log names an operator, whose revoked token stays revoked after kill -9")
    func named() async throws {
        let gateway = try await GatewayProcess()
        let grace = try await run("token", "--role", "operator", "--name", "grace", "--expires", "12h", on: gateway)
        let claims = try await tokens(of: gateway).verify(grace)
        #expect((43_190...43_201).contains(claims.expiresAt - Date().timeIntervalSince1970))
        let made = try await gateway.api("POST", "/v1/rooms", ["unique_name": "show"], token: grace)
        #expect(made.status == 201)
        let id = try #require(claims.tokenID)
        #expect(
            try await eventually {
                gateway.log.split(separator: "\n").contains {
                    $0.contains("command done") && $0.contains("who=grace") && $0.contains("token_id=\(id)")
                }
            }
        )
        let revoked = try await gateway.api("POST", "/v1/tokens/revoke", ["jti": .string(id)])
        #expect(revoked.status == 200 && revoked.json["revoked_by"].string == "operator")
        #expect(try await gateway.api("GET", "/v1/rooms", token: grace).status == 401)
        try await gateway.kill9()
        try await gateway.start()
        let refused = try await gateway.api("GET", "/v1/rooms", token: grace)
        #expect(refused.status == 401 && refused.json["error"]["code"].int == 20101)
        let list = try await gateway.api("GET", "/v1/tokens/revoked")
        #expect(list.json["tokens"][0]["jti"].string == id)
        #expect(try await gateway.api("GET", "/v1/rooms").status == 200)

        for wrong in [["--name", "a b"], ["--name", "x", "--expires", "11y"], ["--name", "x", "--room", "show"]] {
            let arguments = [try GatewayProcess.findBinary(), "token", "--data-dir", gateway.dataFolder] + wrong
            await #expect(throws: (any Error).self) { try await ChildProcess.run(arguments + ["--role", "operator"]) }
        }
    }

    @Test("a code of the first start, or of the command login, opens the dashboard once")
    func codes() async throws {
        let gateway = try await GatewayProcess()
        func logIn(_ code: some StringProtocol) async throws -> GatewayResponse {
            try await gateway.request(
                "POST",
                port: gateway.endpoints.httpPort,
                "/dashboard/session",
                headers: ["X-Footlight-Page": "1", "Content-Type": "application/json"],
                body: #"{"token":"\#(code)"}"#
            )
        }
        let first = try #require(gateway.log.firstMatch(of: /code=([A-Z0-9]{4}-[A-Z0-9]{4})/)).output.1
        #expect(gateway.log.contains("127.0.0.1:\(gateway.endpoints.httpPort)/dashboard"))
        let answer = try await logIn(first)
        #expect(answer.status == 200 && answer.json["may_command"].bool == true)
        let cookie = try #require(answer.headers["set-cookie"]?.split(separator: ";").first)
        let rooms = try await gateway.request(
            "GET",
            port: gateway.endpoints.httpPort,
            "/v1/rooms",
            headers: ["Cookie": String(cookie), "X-Footlight-Page": "1"]
        )
        #expect(rooms.status == 200, "\(rooms.text)")
        #expect(try await logIn(first).status == 401)

        let said = try await run("login", on: gateway)
        let second = try #require(said.firstMatch(of: /code ([A-Z0-9]{4}-[A-Z0-9]{4})/), "\(said)").output.1
        #expect(said.contains(":\(gateway.endpoints.httpPort)/dashboard"))
        #expect(try await logIn(second.lowercased()).status == 200)
        // Only the first start tells a code.
        _ = try await gateway.terminate()
        try await gateway.start()
        #expect(gateway.log.matches(of: /code=[A-Z0-9]{4}-/).count == 1)
    }

    @Test("rotate-key replaces operator.token in a running gateway, and removing the retired key revokes its tokens")
    func rotation() async throws {
        let gateway = try await GatewayProcess()
        let first = try gateway.operatorToken
        _ = try await run("rotate-key", on: gateway)
        let second = try gateway.operatorToken
        #expect(second != first)
        let isTaken = try await eventually(within: .seconds(10), every: .milliseconds(200)) {
            try await gateway.api("GET", "/v1/rooms", token: second).status == 200
        }
        #expect(isTaken)
        #expect(try await gateway.api("GET", "/v1/rooms", token: first).status == 200)
        #expect(try await gateway.api("POST", "/v1/rooms", ["unique_name": "show"], token: first).status == 201)
        let events = "http://127.0.0.1:\(gateway.endpoints.httpPort)/v1/rooms/show/events"
        let streams = try [first, second].map { token in
            try ChildProcess(["curl", "-sN", "-H", "Authorization: Bearer \(token)", events])
        }
        defer { for stream in streams { stream.end() } }
        #expect(try await eventually { streams.allSatisfy { $0.standardOutput.contains("data: ") } })
        try FileManager.default.removeItem(atPath: gateway.dataFolder + "/retired-keys/key1.key")
        let isRefused = try await eventually(within: .seconds(10), every: .milliseconds(200)) {
            try await gateway.api("GET", "/v1/rooms", token: first).status == 401
        }
        #expect(isRefused)
        #expect(try await eventually { !streams[0].isRunning })
        #expect(streams[0].standardOutput.contains("20107") && streams[1].isRunning, "\(streams[0].standardOutput)")
        #expect(try await gateway.api("GET", "/v1/rooms", token: second).status == 200)
        #expect(try gateway.operatorToken == second)
    }

    @Test("all files are for the owner only, also in a folder that was readable by others")
    func permissions() async throws {
        let gateway = try await GatewayProcess()
        #expect(try await gateway.api("POST", "/v1/rooms", ["unique_name": "show"]).status == 201)
        try await gateway.api("POST", "/v1/tokens/revoke", ["jti": "x"])
        let files = FileManager.default
        func mode(_ path: String) throws -> Int {
            try files.attributesOfItem(atPath: path)[.posixPermissions] as? Int ?? 0
        }
        #expect(try mode(gateway.dataFolder) == 0o700)
        #expect(gateway.log.contains("permissions of the data folder narrowed to its owner"))
        let names = try files.contentsOfDirectory(atPath: gateway.dataFolder)
        let secret = names.filter { $0.hasSuffix(".key") || $0.hasSuffix(".token") || $0.contains(".sqlite") }
        #expect(secret.count > 8, "\(names)")
        for name in secret { #expect(try mode(gateway.dataFolder + "/" + name) == 0o600, "\(name)") }
    }

    /// Publishes a program as a mixer until the connection ends.
    private func publish(_ room: String, _ token: String, to gateway: GatewayProcess) throws -> ChildProcess {
        try ChildProcess([
            "ffmpeg", "-nostdin", "-loglevel", "error", "-re", "-f", "lavfi", "-i", "testsrc2=s=160x90:r=10", "-f",
            "lavfi", "-i", "sine=r=48000", "-t", "40", "-c:v", "libx264", "-preset", "ultrafast", "-g", "10", "-c:a",
            "aac", "-f", "flv", gateway.rtmpURL(room: room) + "?token=\(token)",
        ])
    }

    private func play(_ url: String, seconds: Int) throws -> ChildProcess {
        try ChildProcess([
            "ffmpeg", "-nostdin", "-loglevel", "error", "-i", url, "-t", "\(seconds)", "-c", "copy", "-f", "null", "-",
        ])
    }

    @Test("revoking a token ends its player and publisher within two seconds, and an operator's token plays nowhere")
    func streams() async throws {
        let gateway = try await GatewayProcess()
        #expect(try await gateway.api("POST", "/v1/rooms", ["unique_name": "show"]).status == 201)
        let tokens = try await tokens(of: gateway)
        let mixer = try await tokens.issue(identity: "m", room: "show", role: .mixer, epoch: 1, expiresIn: 600)
        let relay = try await run("token", "--role", "relay", "--identity", "edge", on: gateway)
        let program = try publish("show", mixer, to: gateway)
        let isOn = try await eventually(within: .seconds(20), every: .milliseconds(100)) {
            try await gateway.request("GET", port: gateway.endpoints.httpPort, "/live/show/index.m3u8").status == 200
        }
        #expect(isOn, "\(program.standardError)")

        // An operator's token in each kind of URL.
        let boss = try gateway.operatorToken
        for path in ["/live/show/index.m3u8", "/live/show.flv"] {
            let answer = try await gateway.request("GET", port: gateway.endpoints.httpPort, "\(path)?token=\(boss)")
            #expect(answer.status == 403 && answer.json["error"]["code"].int == 20106, "\(answer.text)")
        }
        let forbidden = try play(gateway.rtmpURL(room: "show") + "?token=\(boss)", seconds: 1)
        let exit = try await forbidden.wait(.seconds(15))
        #expect(exit != nil && exit != .code(0))
        let ghost = try RawPublisher.attempt(port: gateway.endpoints.rtmpPort, key: "show?token=\(boss)")
        #expect(ghost.text.contains("An operator's token is not accepted in a URL"), "\(ghost.text)")
        #expect(try await gateway.api("GET", "/v1/rooms/show/viewership").json["joins"].int == 0)

        let player = try play(gateway.rtmpURL(room: "show") + "?token=\(relay)", seconds: 30)
        let viewer = try play(gateway.rtmpURL(room: "show"), seconds: 30)
        try await Task.sleep(for: .seconds(3))
        #expect(player.isRunning && viewer.isRunning, "\(player.standardError)")
        func revoked(_ token: String, ends child: ChildProcess) async throws {
            let began = MonotonicTime.now()
            #expect(try await gateway.api("POST", "/v1/tokens/revoke", ["token": .string(token)]).status == 200)
            #expect(try await child.wait(.seconds(10)) != nil)
            let seconds = MonotonicTime.now().seconds(since: began)
            print("ended", Int(seconds * 1000), "ms after its token was revoked")
            #expect(seconds < 2)
        }
        try await revoked(relay, ends: player)
        #expect(viewer.isRunning && program.isRunning)
        try await revoked(mixer, ends: program)
        viewer.end()
    }
}
