import FootlightTesting
import Foundation
import Glibc
import TestSupport
import Testing

@Suite("Demo", .enabled(if: TestRun.isFull), .serialized, .timeLimit(.minutes(1)))
struct DemoTests {
    @Test("prints its addresses when both hosts are in the program, without counting a viewer")
    func onAir() async throws {
        let gateway = try await GatewayProcess(command: "demo")
        let isOnAir = try await eventually(within: .seconds(30)) {
            gateway.log.contains("On air. Watch:") || !gateway.isRunning
        }
        #expect(isOnAir && gateway.isRunning, "\(gateway.log)")
        let layout = try await gateway.api("GET", "/v1/rooms/demo/layout").json
        #expect(layout["tiles"].elements.map { $0["source"].string } == ["camera", "camera"])
        let viewers = try await gateway.api("GET", "/v1/rooms/demo/viewership").json
        #expect(viewers["concurrent_viewers"].int == 0 && viewers["unfiltered_viewers"].int == 0, "\(viewers)")
        let playlist = gateway.hlsURL(room: "demo")
        #expect(gateway.log.contains(playlist) && gateway.log.contains(gateway.rtmpURL(room: "demo")))
        #expect(!gateway.log.contains("sk_"), "a stream key is printed")

        let encoders = RunningProcess.all().filter { process in
            let arguments = RunningProcess.arguments(of: process)
            return arguments.first == "ffmpeg" && arguments.contains { $0.contains(":\(gateway.endpoints.rtmpPort)/") }
        }
        #expect(encoders.count == 2)
        kill(gateway.endpoints.pid, SIGINT)
        #expect(try await eventually { !gateway.isRunning })
        #expect(try await eventually { !encoders.contains(where: RunningProcess.isAlive) })
    }

    /// Starts a demo without a data folder, with `scratch` as the temporary folder.
    private func start(in scratch: TemporaryFolder, path: String) throws -> ChildProcess {
        let arguments = ["--host", "127.0.0.1", "--rtmp-port", "0", "--http-port", "0", "--admin-port", "0"]
        // In this working folder, files created there would be seen as well.
        return try ChildProcess(
            ["/bin/sh", "-c", #"cd "$TMPDIR" && PATH="\#(path)" exec "$0" demo "$@""#, try GatewayProcess.findBinary()]
                + arguments,
            environment: ["TMPDIR": scratch.path, "FOOTLIGHT_LIMITS_CPU_CEILING": "0"]
        )
    }

    @Test("removes its temporary data folder however it ends", arguments: [true, false])
    func removesDataFolder(canPlay: Bool) async throws {
        let scratch = try TemporaryFolder("demo")
        func files() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: scratch.path).sorted() }
        let demo = try start(
            in: scratch,
            path: canPlay ? ProcessInfo.processInfo.environment["PATH"] ?? "" : "/nowhere"
        )
        if canPlay {
            let isOnAir = try await eventually(within: .seconds(30)) {
                demo.standardOutput.contains("Ctrl-C") || !demo.isRunning
            }
            #expect(isOnAir && demo.isRunning, "\(demo.standardError)")
            #expect(demo.standardOutput.contains("--data-dir DIR would keep it"))
            let names = try files()
            let made = try #require(names.first)
            #expect(names.count == 1 && made.hasPrefix("footlight-demo-"), "\(names)")
            let inside = try FileManager.default.contentsOfDirectory(atPath: scratch.file(made))
            #expect(inside.contains("operator.token"), "\(inside)")
            demo.signal(SIGINT)
        }
        #expect(try await demo.wait(.seconds(15)) == .code(canPlay ? 0 : 1), "\(demo.standardError)")
        #expect(try files().isEmpty)
    }

    @Test("Ctrl-C while waiting for the hosts ends it quietly without leaving files")
    func interrupted() async throws {
        let scratch = try TemporaryFolder("demo")
        let demo = try start(in: scratch, path: ProcessInfo.processInfo.environment["PATH"] ?? "")
        #expect(try await eventually { demo.standardOutput.contains("Waiting for") || !demo.isRunning })
        demo.signal(SIGINT)
        #expect(try await demo.wait(.seconds(15)) == .code(0), "\(demo.standardError)")
        #expect(!demo.standardOutput.contains("On air."))
        #expect(!demo.standardError.contains("Error:"), "\(demo.standardError)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path).isEmpty)
    }

    @Test("reports why it cannot go on air without ffmpeg, and fails")
    func withoutEncoders() async throws {
        let gateway = try await GatewayProcess(command: "demo", environment: ["PATH": "/nowhere"])
        #expect(try await eventually { !gateway.isRunning })
        #expect(gateway.log.contains("cannot go on air"), "\(gateway.log)")
        #expect(!gateway.log.contains("On air."))
        #expect(try await gateway.terminate() == .code(1))
    }
}
