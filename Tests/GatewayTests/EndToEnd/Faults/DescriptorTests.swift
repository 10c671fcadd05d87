import FootlightTesting
import Foundation
import Glibc
import Media
import TestSupport
import Testing

@Suite("Exhaustion of file descriptors", .enabled(if: TestRun.isFull), .serialized, .timeLimit(.minutes(2)))
struct DescriptorTests {
    @Test("keeps a room on air and replaces a killed mixer, reports the shortage in log and readyz, and recovers")
    func exhausted() async throws {
        let stage = try await RoomFixture(
            room: "show",
            // Each event loop uses descriptors.
            environment: ["FOOTLIGHT_THREADS": "2"],
            descriptors: 300
        )
        let gateway = stage.gateway
        let host = try stage.publish(
            try await stage.clip(HostScript(.red, tone: 440)),
            as: try await stage.join("ada")
        )
        try await stage.waitUntilOnAir()
        let viewer = try Players.flv(gateway.flvURL(room: stage.room))
        #expect(try await viewer.tail.keyframe(after: .now(), within: .seconds(20)) != nil)
        #expect(try await ready() == 200)

        let http = IdleConnections(port: gateway.endpoints.httpPort, count: 400)
        let rtmp = IdleConnections(port: gateway.endpoints.rtmpPort, count: 200)
        #expect(try await eventually(within: .seconds(5)) { try await ready() == 503 })
        let reasons = try await gateway.request("GET", port: gateway.endpoints.adminPort, "/readyz").json["reasons"]
        #expect(reasons.elements.contains { $0["name"].string == "connections" }, "\(reasons.text)")
        // Connections in the backlog are open for a moment.
        let areRefused = try await eventually(within: .seconds(5)) { http.open < 150 && rtmp.open < 60 }
        #expect(areRefused, "\(http.open) by HTTP, \(rtmp.open) by RTMP")
        let before = gateway.mixers(of: "show")
        for mixer in before { kill(mixer, SIGKILL) }
        let isReplaced = try await eventually(within: .seconds(5), every: .milliseconds(50)) {
            let now = gateway.mixers(of: "show")
            return !now.isEmpty && Set(now).isDisjoint(with: before)
        }
        #expect(isReplaced)
        #expect(try await viewer.tail.keyframe(after: .now(), within: .seconds(10)) != nil)
        // Long enough for the C library to open files of the process's threads a few times.
        try await Task.sleep(for: .seconds(3))
        #expect(gateway.isRunning)
        let files = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(gateway.endpoints.pid)/fd").count
        #expect(files < 290, "\(files) descriptors")

        http.close()
        rtmp.close()
        #expect(try await eventually(within: .seconds(15)) { try await ready() == 200 })
        #expect(try await viewer.tail.keyframe(after: .now(), within: .seconds(5)) != nil)
        let said = gateway.log.split(separator: "\n").count { $0.contains("connections refused: limit reached") }
        #expect(said == 1, "\(said) lines")
        viewer.child.end()
        host.end()

        func ready() async throws -> Int {
            try await gateway.request("GET", port: gateway.endpoints.adminPort, "/readyz").status
        }
    }

    @Test("the mixer ports refuse every connection without a mixer token")
    func mixerPorts() async throws {
        let stage = try await RoomFixture(room: "show")
        let gateway = stage.gateway
        let host = try stage.publish(
            try await stage.clip(HostScript(.red, tone: 440)),
            as: try await stage.join("ada")
        )
        try await stage.waitUntilOnAir()
        let arguments = RunningProcess.arguments(of: try #require(gateway.mixers(of: "show").first))
        func port(_ option: String) throws -> Int {
            let index = try #require(arguments.firstIndex(of: option))
            return try #require(Int(arguments[index + 1]))
        }
        let (rtmp, http) = (try port("--rtmp-port"), try port("--http-port"))
        #expect(rtmp != gateway.endpoints.rtmpPort && http != gateway.endpoints.httpPort)
        let bearer = ["Authorization": "Bearer " + (try gateway.operatorToken)]
        for (path, headers, status) in [
            ("/v1/rooms", bearer, 403), ("/v1/rooms", [:], 401), ("/live/show/index.m3u8", [:], 401),
            ("/live/show.flv", bearer, 403),
        ] {
            let reply = try await gateway.request("GET", port: http, path, headers: headers)
            #expect(reply.status == status, "\(path): \(reply.text)")
        }
        let guess = try RawPublisher.attempt(port: rtmp, key: "sk_guess")
        #expect(guess.text.contains("this port is for mixers"), "\(guess.text)")
        let player = try ChildProcess([
            "ffmpeg", "-nostdin", "-loglevel", "error", "-i", "rtmp://127.0.0.1:\(rtmp)/live/show", "-t", "1", "-f",
            "null", "-",
        ])
        let exit = try await player.wait(.seconds(20))
        #expect(exit != nil && exit != .code(0))
        host.end()
    }
}
