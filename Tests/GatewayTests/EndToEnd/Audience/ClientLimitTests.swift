import FootlightTesting
import Foundation
import Testing

@Suite("What one client may have of a gateway", .serialized, .timeLimit(.minutes(2)))
struct ClientLimitTests {
    @Test("Each limit that is set holds for its kind, is counted, and lets in again whoever comes after some have gone")
    func all() async throws {
        let stage = try await FaultStage(
            room: "show",
            environment: [
                "FOOTLIGHT_LIMITS_CONNECTIONS": "12", "FOOTLIGHT_LIMITS_WAITING": "3", "FOOTLIGHT_LIMITS_PLAYERS": "1",
                "FOOTLIGHT_LIMITS_SESSIONS": "4", "FOOTLIGHT_LIMITS_STREAMS": "2",
            ]
        )
        let gateway = stage.gateway
        let clip = try await stage.clip(HostScript(.red, tone: 440))
        let host = try stage.publish(clip, as: try await stage.join("ada"))
        try await stage.waitUntilOnAir()

        // Connections, and RTMP connections that neither publish nor play.
        for (port, most, limit) in [
            (gateway.endpoints.httpPort, 12, "connections"), (gateway.endpoints.rtmpPort, 3, "waiting"),
        ] {
            let idle = IdleConnections(port: port, count: 20)
            #expect(try await eventually(within: .seconds(5)) { idle.open <= most && idle.open > 0 }, "\(idle.open)")
            #expect(try await refused(limit, gateway) >= 20 - most)
            idle.close()
        }

        // Players by RTMP: the first plays, the second is sent away, and comes in its place.
        let first = try player(stage)
        #expect(try await eventually(within: .seconds(20)) { size(first) > 20_000 })
        let second = try player(stage)
        #expect(try await second.wait(.seconds(20)) != nil)
        #expect(size(second) == 0)
        #expect(try await refused("players", gateway) == 1)
        first.end()
        let isFree = try await eventually(within: .seconds(20), every: .milliseconds(500)) {
            let third = try player(stage)
            defer { third.end() }
            return try await eventually(within: .seconds(5)) { size(third) > 20_000 }
        }
        #expect(isFree)

        // Those who take a playlist and do not go on.
        var statuses: [Int: Int] = [:]
        for number in 0..<7 {
            let media = try await playlist(number, gateway)
            statuses[media, default: 0] += 1
        }
        #expect(statuses[429, default: 0] > 0 && statuses[200, default: 0] > 0, "\(statuses)")
        #expect(try await refused("sessions", gateway) == statuses[429])

        // Streams of events.
        let token = try await gateway.issueToken(room: "show", identity: "eve", mode: "RECV_ONLY")
        let bearer = "Authorization: Bearer \(token)"
        let url = "http://127.0.0.1:\(gateway.endpoints.httpPort)/v1/rooms/show/events"
        let streams = try (0..<3).map { _ in
            try ChildProcess(["curl", "-sN", "-m", "20", "-o", "/dev/null", "-w", "%{http_code}", "-H", bearer, url])
        }
        #expect(try await eventually { try await refused("streams", gateway) == 1 })
        #expect(try await eventually { streams.count(where: \.isRunning) == 2 })
        for stream in streams { stream.end() }
        host.end()
    }

    private func player(_ stage: FaultStage) throws -> ChildProcess {
        let url = stage.gateway.rtmpURL(room: "show")
        return try ChildProcess([
            "ffmpeg", "-nostdin", "-loglevel", "error", "-i", url, "-c", "copy", "-f", "flv", "-",
        ])
    }

    private func size(_ child: ChildProcess) -> Int {
        (try? FileManager.default.attributesOfItem(atPath: child.outputPath))?[.size] as? Int ?? 0
    }

    /// A new player's first question for a playlist.
    private func playlist(_ number: Int, _ gateway: GatewayProcess) async throws -> Int {
        let port = gateway.endpoints.httpPort
        let index = try await gateway.request("GET", port: port, "/live/show/index.m3u8")
        guard index.status == 200 else { return index.status }
        let media = try #require(index.text.split(separator: "\n").last { !$0.hasPrefix("#") })
        return try await gateway.request("GET", port: port, "/live/show/" + media).status
    }

    /// How often a limit was the reason to refuse.
    private func refused(_ limit: String, _ gateway: GatewayProcess) async throws -> Int {
        let metrics = try await gateway.request("GET", port: gateway.endpoints.adminPort, "/metrics").text
        let name = "footlight_client_refused_total{limit=\"\(limit)\"} "
        let line = try #require(metrics.split(separator: "\n").first { $0.hasPrefix(name) })
        return try #require(Int(line.dropFirst(name.count)))
    }
}
