import FootlightTesting
import Foundation
import Glibc
import Media
import TestSupport
import Testing

@Suite("Sockets that outlive the gateway", .enabled(if: TestRun.isFull), .serialized, .timeLimit(.minutes(2)))
struct SocketActivationTests {
    @Test(
        "requests, players and hosts wait while no gateway runs, and are served by the next one",
        arguments: ["KILL", "TERM"]
    )
    func waiting(signal: String) async throws {
        let sockets = try ListeningSockets(3)
        let stage = try await RoomFixture(room: "kept", sockets: sockets)
        let gateway = stage.gateway
        #expect([gateway.endpoints.rtmpPort, gateway.endpoints.httpPort, gateway.endpoints.adminPort] == sockets.ports)
        let participant = try await stage.join("red")
        let clip = try await stage.clip(HostScript(.red, tone: 440))
        let first = try stage.publish(clip, as: participant)
        try await stage.waitUntilOnAir()
        let former = gateway.endpoints.pid
        if signal == "KILL" { try await gateway.kill9() } else { try await gateway.terminate() }
        #expect(!gateway.isRunning)
        first.end()

        // Each of them sends one request only.
        let playlist = try ChildProcess([
            "curl", "-sS", "--fail", "-L", "http://127.0.0.1:\(sockets.ports[1])/live/kept/index.m3u8",
        ])
        let health = try ChildProcess(["curl", "-sS", "--fail", "http://127.0.0.1:\(sockets.ports[2])/livez"])
        let host = try stage.publish(clip, as: participant)
        let viewer = try ChildProcess(["rtmpdump", "-q", "--live", "-r", gateway.rtmpURL(room: "kept"), "-o", "-"])
        try await Task.sleep(for: .seconds(4))
        #expect(playlist.isRunning && health.isRunning && host.isRunning && viewer.isRunning)

        try await gateway.start(reusesPorts: true)
        let ready = MonotonicTime.now()
        #expect(gateway.endpoints.pid != former)
        try await playlist.waitForSuccess(.seconds(15))
        print("the playlist came \(MonotonicTime.now().seconds(since: ready)) s after the gateway was ready")
        #expect(playlist.standardOutput.contains("#EXTM3U"))
        try await health.waitForSuccess(.seconds(5))
        let isBack = try await eventually(within: .seconds(10)) {
            try await gateway.api("GET", stage.path("participants/red")).json["is_camera_on"].bool == true
        }
        #expect(isBack && host.isRunning, "\(gateway.log)")
        let plays = try await eventually(within: .seconds(10)) { viewer.standardOutput.utf8.count > 20_000 }
        #expect(plays && viewer.isRunning)
        #expect(!gateway.log.contains("inherited socket not used"), "\(gateway.log)")
    }
}
