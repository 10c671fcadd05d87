import FootlightTesting
import Foundation
import Glibc
import TestSupport
import Testing

@testable import Gateway

@Suite("Reload of the configuration", .enabled(if: TestRun.isFull), .serialized, .timeLimit(.minutes(1)))
struct ConfigurationReloadTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder("reload")
    }

    private func gateway(_ settings: String) async throws -> (GatewayProcess, String) {
        let file = try folder.write(settings, to: "footlight.yaml")
        // The file decides, not the variables of the test.
        let environment = ["FOOTLIGHT_LOG_LEVEL": "", "FOOTLIGHT_LIMITS_REQUESTS": ""]
        return (try await GatewayProcess(arguments: ["--config", file], environment: environment), file)
    }

    /// Writes the settings, sends SIGHUP, and returns the log line about it.
    private func reload(_ settings: String, _ gateway: GatewayProcess) async throws -> String {
        let lines = { gateway.log.split(separator: "\n").filter { $0.contains("reloaded") } }
        let before = lines().count
        try folder.write(settings, to: "footlight.yaml")
        kill(gateway.endpoints.pid, SIGHUP)
        #expect(try await eventually(within: .seconds(5)) { lines().count > before })
        return lines().last.map(String.init) ?? ""
    }

    private func status(_ gateway: GatewayProcess, _ options: [String] = []) async throws -> String {
        let url = "http://127.0.0.1:\(gateway.endpoints.httpPort)/docs/errors"
        return try await ChildProcess.run(
            ["curl", "-s", "-o", "/dev/null", "-w", "%{http_code}"] + options + [url],
            within: .seconds(10)
        )
    }

    @Test("takes over limits, proxies and the log level without a restart, and says what needs one")
    func live() async throws {
        let (gateway, _) = try await gateway("log: {level: info}\nlimits: {requests: 0}\n")
        defer { gateway.end() }
        let pid = gateway.endpoints.pid
        for _ in 0..<20 { #expect(try await status(gateway) == "200") }
        let line = try await reload(
            "log: {level: warning}\nlimits: {requests: 1}\nfanout: {viewers: 77}\nviewership: {proxies: [127.0.0.1]}\n",
            gateway
        )
        #expect(line.contains("changed=limits.requests, viewership.proxies, log.level"), "\(line)")
        #expect(line.contains("needs_restart=fanout.viewers"), "\(line)")
        #expect(gateway.isRunning && gateway.endpoints.pid == pid)
        // The proxy names other clients, each of which has the new limit.
        var answers: [String] = []
        for _ in 0..<4 { answers.append(try await status(gateway, ["-H", "X-Forwarded-For: 192.0.2.7"])) }
        #expect(answers == ["200", "200", "429", "429"])
        #expect(try await status(gateway, ["-H", "X-Forwarded-For: 192.0.2.8"]) == "200")
        // Messages below the new level are gone.
        let token = "Authorization: Bearer " + (try gateway.operatorToken)
        let rooms = "http://127.0.0.1:\(gateway.endpoints.httpPort)/v1/rooms"
        try await ChildProcess.run(
            ["curl", "-sS", "-H", token, "-H", "X-Forwarded-For: 192.0.2.9", "-d", #"{"unique_name":"x"}"#, rooms],
            within: .seconds(10)
        )
        #expect(!gateway.log.contains("command done"))
    }

    @Test("a configuration with an error changes nothing")
    func invalid() async throws {
        let (gateway, _) = try await gateway("limits: {requests: 0}\n")
        defer { gateway.end() }
        for (settings, reason) in [
            ("limits: {requests: many}\n", "limits.requests"), ("limits: [\n", "footlight.yaml cannot be read"),
            ("limits: {requests: 1}\nlimts: {players: 1}\n", "limts.players is not a setting"),
        ] {
            let line = try await reload(settings, gateway)
            #expect(line.contains("not reloaded") && gateway.log.contains(reason), "\(line)")
        }
        for _ in 0..<10 { #expect(try await status(gateway) == "200") }
    }

    @Test("loads a certificate from other files at once, and keeps the old one if they are unusable")
    func certificate() async throws {
        let certificates = try await TestCertificates(in: folder.path)
        try await certificates.issue("first", for: "localhost")
        try await certificates.issue("second", for: "localhost")
        func settings(_ name: String) -> String {
            let (chain, key) = (certificates.path("\(name).pem"), certificates.path("\(name).key"))
            return "https: {port: 0}\ntls: {certificate: \"\(chain)\", key: \"\(key)\"}\n"
        }
        let (gateway, _) = try await gateway(settings("first"))
        defer { gateway.end() }
        func serial() async throws -> String {
            let port = try #require(gateway.endpoints.httpsPort)
            return try await ChildProcess.run(
                [
                    "sh", "-c",
                    "openssl s_client -connect localhost:\(port) </dev/null 2>/dev/null | openssl x509 -noout -serial",
                ],
                within: .seconds(10)
            )
        }
        let first = try await serial()
        let line = try await reload(settings("second"), gateway)
        #expect(line.contains("changed=tls.certificate, tls.key"), "\(line)")
        let second = try await serial()
        #expect(first != second)
        #expect(try await reload(settings("third"), gateway).contains("not reloaded"))
        #expect(try await serial() == second)
    }
}

@Suite("Changes of a configuration")
struct ConfigurationChangeTests {
    @Test("a setting that needs a restart is named until it has its first value again")
    func restart() {
        let initial = GatewayConfiguration()
        var second = initial
        second.maximumViewers = 5
        second.clientPlayers = 9
        second.tlsKey = "/other.key"
        let change = ConfigurationChange(from: initial, runningWith: initial, to: second)
        #expect(change.taken == ["tls.key", "limits.players"] && change.needsRestart == ["fanout.viewers"])
        let again = ConfigurationChange(from: second, runningWith: initial, to: second)
        #expect(again.taken.isEmpty && again.needsRestart == ["fanout.viewers"])
        let back = ConfigurationChange(from: second, runningWith: initial, to: initial)
        #expect(back.taken == ["tls.key", "limits.players"] && back.needsRestart.isEmpty)
    }
}
