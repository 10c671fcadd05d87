import FootlightTesting
import Foundation
import Glibc
import Testing

@Suite("The demo", .serialized, .timeLimit(.minutes(1)))
struct DemoTests {
    @Test("It says that it is on air when it is: two hosts in the program, addresses that play, nobody counted")
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

    @Test("A demo whose hosts cannot be played says why and ends")
    func withoutEncoders() async throws {
        let gateway = try await GatewayProcess(command: "demo", environment: ["PATH": "/nowhere"])
        #expect(try await eventually { !gateway.isRunning })
        #expect(gateway.log.contains("cannot go on air"), "\(gateway.log)")
        #expect(!gateway.log.contains("On air."))
        #expect(try await gateway.terminate() == .code(1))
    }
}
