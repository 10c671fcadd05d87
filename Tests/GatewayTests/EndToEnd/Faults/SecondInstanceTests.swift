import Foundation
import TestSupport
import Testing

@Suite("Second gateway on the same data folder", .enabled(if: TestRun.isFull), .serialized, .timeLimit(.minutes(2)))
struct SecondInstanceTests {
    /// Runs a command of the executable to its end.
    private func run(_ arguments: [String], log: TemporaryFolder) async throws -> (ChildProcess.Exit?, String) {
        let child = try ChildProcess([try GatewayProcess.findBinary()] + arguments, logFolder: log.path)
        let exit = try await child.wait(.seconds(20))
        child.end()
        return (exit, child.standardOutput + child.standardError)
    }

    private func files(of gateway: GatewayProcess) throws -> [String: Data] {
        var files: [String: Data] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: gateway.dataFolder) {
            // Files that the running gateway writes, and folders, are excluded.
            guard !name.contains(".sqlite"), !name.hasSuffix(".marks") else { continue }
            files[name] = FileManager.default.contents(atPath: gateway.dataFolder + "/" + name)
        }
        return files
    }

    @Test("refuses to start, names the holder of the lock and changes no file, with free and with occupied ports")
    func refused() async throws {
        let log = try TemporaryFolder("second")
        let gateway = try await GatewayProcess()
        #expect(try await gateway.api("POST", "/v1/rooms", ["unique_name": "kept"]).status == 201)
        let before = try files(of: gateway)
        let ports = gateway.endpoints
        for (rtmp, http, admin) in [(0, 0, 0), (ports.rtmpPort, ports.httpPort, ports.adminPort)] {
            let (exit, words) = try await run(
                [
                    "serve", "--data-dir", gateway.dataFolder, "--host", "127.0.0.1", "--rtmp-port", "\(rtmp)",
                    "--http-port", "\(http)", "--admin-port", "\(admin)",
                ],
                log: log
            )
            #expect(exit == .code(1), "\(words)")
            #expect(words.contains("is in use by another gateway (pid \(ports.pid), since "), "\(words)")
            #expect(try files(of: gateway) == before)
            #expect(try await gateway.api("GET", "/v1/rooms/kept").status == 200)
        }
    }

    @Test("token, check-config and rotate-key work beside a running gateway, which restarts after kill -9")
    func commands() async throws {
        let log = try TemporaryFolder("second")
        let gateway = try await GatewayProcess()
        let token = ["token", "--data-dir", gateway.dataFolder, "--role", "monitor", "--identity", "eye"]
        for arguments in [
            token, ["check-config", "--data-dir", gateway.dataFolder],
            ["rotate-key", "--data-dir", gateway.dataFolder, "--sessions"],
        ] {
            let (exit, words) = try await run(arguments, log: log)
            #expect(exit == .code(0), "\(arguments): \(words)")
        }
        try await gateway.kill9()
        try await gateway.start()
        #expect(try await gateway.api("GET", "/v1/rooms").status == 200)
    }

    @Test("an occupied port fails the start without endpoints.json and without changing the other gateway's folder")
    func takenPort() async throws {
        let log = try TemporaryFolder("second")
        let other = try TemporaryFolder("other")
        let gateway = try await GatewayProcess()
        let (exit, words) = try await run(
            [
                "serve", "--data-dir", other.file("data"), "--host", "127.0.0.1",
                "--rtmp-port", "\(gateway.endpoints.rtmpPort)", "--http-port", "0", "--admin-port", "0",
            ],
            log: log
        )
        #expect(exit == .code(1), "\(words)")
        #expect(words.contains("cannot listen on 127.0.0.1:\(gateway.endpoints.rtmpPort)"), "\(words)")
        #expect(!FileManager.default.fileExists(atPath: other.file("data/endpoints.json")))
        #expect(FileManager.default.fileExists(atPath: gateway.dataFolder + "/endpoints.json"))
    }
}
