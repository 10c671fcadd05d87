import FootlightTesting
import Foundation
import TestSupport
import Testing

@Suite(
    "Configuration from command line, environment and file",
    .enabled(if: TestRun.isFull),
    .serialized,
    .timeLimit(.minutes(1))
)
struct ConfigurationTests {
    /// An invalid configuration.
    struct Mistake: Sendable, CustomTestStringConvertible {
        let what: String
        var arguments: [String] = []
        var environment: [String: String] = [:]
        /// The name and content of the `--config` file.
        var file: (name: String, content: String)?
        /// Words that the error message must contain.
        let named: [String]

        var testDescription: String { what }
    }

    @Test("command line takes precedence over environment, environment over file, file over default")
    func precedence() async throws {
        let folder = try TemporaryFolder("settings")
        let yaml = try folder.write("rtmp:\n  port: 7001\nhttp:\n  port: 7002\nadmin:\n  port: 7003\n", to: "a.yaml")
        let json = try folder.write(#"{"rtmp":{"port":7001},"http":{"port":7002},"admin":{"port":7003}}"#, to: "a.json")
        for file in [yaml, json] {
            let child = try ChildProcess(
                [GatewayProcess.findBinary(), "check-config", "--config", file, "--rtmp-port", "9001"],
                environment: ["FOOTLIGHT_RTMP_PORT": "8001", "FOOTLIGHT_HTTP_PORT": "8002"]
            )
            try await child.waitForSuccess(.seconds(10))
            let lines = child.standardOutput.split(separator: "\n")
            for line in ["rtmp.port: 9001", "http.port: 8002", "admin.port: 7003", "host: 127.0.0.1"] {
                #expect(lines.contains { $0 == line }, "\(line) is not in \(child.standardOutput)")
            }
        }
    }

    @Test("prints the effective settings without secrets")
    func secrets() async throws {
        let child = try ChildProcess(
            [GatewayProcess.findBinary(), "check-config"],
            environment: ["FOOTLIGHT_TLS_CERTIFICATE": "/etc/chain.pem", "FOOTLIGHT_TLS_KEY": "/etc/private.pem"]
        )
        try await child.waitForSuccess(.seconds(10))
        #expect(child.standardOutput.contains("tls.certificate: /etc/chain.pem"))
        #expect(!child.standardOutput.contains("private.pem"))
    }

    @Test("listens as configured by the environment alone")
    func environment() async throws {
        let folder = try TemporaryFolder("settings")
        let port = try FreePort.pick()
        let child = try ChildProcess(
            [GatewayProcess.findBinary(), "serve"],
            environment: [
                "FOOTLIGHT_DATA_DIR": folder.file("data"), "FOOTLIGHT_RTMP_PORT": "\(port)",
                "FOOTLIGHT_HTTP_PORT": "0", "FOOTLIGHT_ADMIN_PORT": "0",
            ]
        )
        let file = folder.file("data/endpoints.json")
        #expect(try await eventually { FileManager.default.fileExists(atPath: file) })
        let status = try JSONValue(parsing: String(contentsOfFile: file, encoding: .utf8))
        #expect(status["rtmp_port"].int == port && FreePort.isListening(port))
        #expect(status["http_port"].int ?? 0 > 0 && status["pid"].int == Int(child.pid))
        #expect(try await child.stop() == .code(0))
    }

    @Test(
        "reports an invalid configuration in one line and fails",
        arguments: [
            Mistake(what: "out of range", arguments: ["--rtmp-port", "99999"], named: ["rtmp.port", "99999"]),
            Mistake(what: "no number", environment: ["FOOTLIGHT_HTTP_PORT": "abc"], named: ["http.port", "abc"]),
            Mistake(what: "no such level", environment: ["FOOTLIGHT_LOG_LEVEL": "loud"], named: ["log.level", "loud"]),
            Mistake(what: "no such option", arguments: ["--rtmp-prot", "1"], named: ["--rtmp-prot"]),
            Mistake(what: "no such file", arguments: ["--config", "/none/such.yaml"], named: ["/none/such.yaml"]),
            Mistake(what: "broken YAML", file: ("broken.yaml", "rtmp: [\n"), named: ["broken.yaml"]),
            Mistake(what: "broken JSON", file: ("broken.json", "{\"rtmp\": "), named: ["broken.json"]),
            Mistake(what: "half of TLS", environment: ["FOOTLIGHT_RTMPS_PORT": "0"], named: ["rtmps.port", "tls.key"]),
        ]
    )
    func mistakes(_ mistake: Mistake) async throws {
        let folder = try TemporaryFolder("settings")
        var arguments = mistake.arguments
        if let file = mistake.file { arguments += ["--config", try folder.write(file.content, to: file.name)] }
        for command in ["check-config", "serve"] {
            var call = [try GatewayProcess.findBinary(), command] + arguments
            if command == "serve" { call += ["--data-dir", folder.file("data")] }
            let child = try ChildProcess(call, environment: mistake.environment)
            let exit = try await child.wait(.seconds(20))
            guard case .code(let status) = exit, status != 0 else {
                Issue.record("\(command): \(String(describing: exit))")
                continue
            }
            let said = child.standardError
            for word in mistake.named { #expect(said.contains(word), "\(command) does not say \(word): \(said)") }
            #expect(said.split(separator: "\n").first?.hasPrefix("Error: ") == true, "\(said)")
        }
    }

    @Test("names an occupied port and leaves no file behind")
    func takenPort() async throws {
        let other = try await GatewayProcess()
        for (option, port) in [("--rtmp-port", other.endpoints.rtmpPort), ("--http-port", other.endpoints.httpPort)] {
            let folder = try TemporaryFolder("settings")
            var ports = ["--rtmp-port": 0, "--http-port": 0, "--admin-port": 0]
            ports[option] = port
            let child = try ChildProcess(
                [GatewayProcess.findBinary(), "serve", "--data-dir", folder.file("data")]
                    + ports.flatMap { [$0.key, "\($0.value)"] }
            )
            let exit = try await child.wait(.seconds(20))
            #expect(exit != nil && exit != .code(0))
            #expect(child.standardError.contains("\(port)"), "\(option): \(child.standardError)")
            #expect(!FileManager.default.fileExists(atPath: folder.file("data/endpoints.json")))
        }
    }
}
