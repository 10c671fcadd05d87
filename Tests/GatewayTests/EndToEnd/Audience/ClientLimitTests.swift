import FootlightTesting
import Foundation
import Media
import TestSupport
import Testing

@Suite("Limits per client", .enabled(if: TestRun.isFull), .serialized, .timeLimit(.minutes(2)))
struct ClientLimitTests {
    @Test("enforces and counts each configured limit, and admits again after others have left")
    func everyLimit() async throws {
        let stage = try await RoomFixture(
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

        // Players by RTMP: the first one plays; a second one is refused until the first one leaves.
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

        // Players that request a playlist and do not continue.
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

    private func player(_ stage: RoomFixture) throws -> ChildProcess {
        let url = stage.gateway.rtmpURL(room: "show")
        return try ChildProcess([
            "ffmpeg", "-nostdin", "-loglevel", "error", "-i", url, "-c", "copy", "-f", "flv", "-",
        ])
    }

    private func size(_ child: ChildProcess) -> Int {
        (try? FileManager.default.attributesOfItem(atPath: child.outputPath))?[.size] as? Int ?? 0
    }

    /// Requests the playlists of a new player; returns the status.
    private func playlist(_ number: Int, _ gateway: GatewayProcess) async throws -> Int {
        let port = gateway.endpoints.httpPort
        let index = try await gateway.request("GET", port: port, "/live/show/index.m3u8")
        guard index.status == 200 else { return index.status }
        let media = try #require(index.text.split(separator: "\n").last { !$0.hasPrefix("#") })
        return try await gateway.request("GET", port: port, "/live/show/" + media).status
    }

    /// Returns how many requests the limit has refused.
    private func refused(_ limit: String, _ gateway: GatewayProcess) async throws -> Int {
        let metrics = try await gateway.request("GET", port: gateway.endpoints.adminPort, "/metrics").text
        let name = "footlight_client_refused_total{limit=\"\(limit)\"} "
        let line = try #require(metrics.split(separator: "\n").first { $0.hasPrefix(name) })
        return try #require(Int(line.dropFirst(name.count)))
    }
}

@Suite("Audience limit of a room", .enabled(if: TestRun.isFull), .serialized, .timeLimit(.minutes(2)))
struct AudienceLimitTests {
    @Test("Q11 admits simultaneous players up to the room's limit, and refuses others with 53105 until one leaves")
    func limited() async throws {
        let stage = try await RoomFixture(room: "show", audience: 2)
        let gateway = stage.gateway
        let clip = try await stage.clip(HostScript(.red, tone: 440))
        let host = try stage.publish(clip, as: try await stage.join("ann"))
        try await stage.waitUntilOnAir()

        let players = try (0..<4).map { _ in try play(gateway.flvURL(room: "show")) }
        let refused = try await eventually(within: .seconds(5), every: .milliseconds(100)) {
            players.count { !$0.isRunning } == 2
        }
        #expect(refused)
        #expect(
            try await eventually(within: .seconds(10), every: .milliseconds(250)) { try await audience(stage) == 2 }
        )
        #expect(players.count(where: \.isRunning) == 2)

        for url in [gateway.flvURL(room: "show"), gateway.hlsURL(room: "show")] {
            let answer = try await get(url)
            #expect(answer.contains("409 Conflict") && answer.contains("53105"), "\(answer)")
            #expect(answer.contains("Room contains too many Participants"), "\(answer)")
        }
        let late = try play(gateway.rtmpURL(room: "show"))
        #expect(try await eventually(within: .seconds(5), every: .milliseconds(100)) { !late.isRunning })
        let output = late.standardError
        #expect(output.contains("53105"), "\(output)")
        let joined = try await gateway.api(
            "POST",
            stage.path("participants"),
            ["identity": "eve", "mode": "RECV_ONLY"],
            token: try gateway.operatorToken
        )
        #expect(joined.status == 409 && joined.text.contains("53105"), "\(joined.text)")

        players.first(where: \.isRunning)?.end()
        let isFree = try await eventually(within: .seconds(3), every: .milliseconds(100)) {
            try await get(gateway.hlsURL(room: "show")).contains("200 OK")
        }
        #expect(isFree)
        let next = try play(gateway.rtmpURL(room: "show"))
        #expect(
            try await eventually(within: .seconds(10), every: .milliseconds(250)) { try await audience(stage) == 2 }
        )
        #expect(next.isRunning)
        for player in players + [next, late] { player.end() }
        host.end()
    }

    private func audience(_ stage: RoomFixture) async throws -> Int? {
        try await stage.expect(200, "GET", "/v1/rooms/\(stage.room)")["counts"]["audience"].int
    }

    private func get(_ url: String) async throws -> String {
        let asked = try ChildProcess(["curl", "-si", "--max-time", "2", "--max-filesize", "4096", url])
        _ = try await asked.wait(.seconds(5))
        return asked.standardOutput
    }

    private func play(_ url: String) throws -> ChildProcess {
        try ChildProcess(["ffmpeg", "-nostdin", "-loglevel", "verbose", "-i", url, "-c", "copy", "-f", "null", "-"])
    }
}

@Suite("Playlist requests without playback", .enabled(if: TestRun.isFull), .serialized, .timeLimit(.minutes(2)))
struct UnprovenRequestTests {
    @Test("admits new players by every protocol after six times as many playlist requests as the viewer limit")
    func playlistRequests() async throws {
        let stage = try await RoomFixture(room: "show", environment: ["FOOTLIGHT_FANOUT_VIEWERS": "500"])
        let gateway = stage.gateway
        let clip = try await stage.clip(HostScript(.red, tone: 440))
        let host = try stage.publish(clip, as: try await stage.join("ada"))
        try await stage.waitUntilOnAir()

        let crowds = try (0..<3).map { _ in
            try ChildProcess(["curl", "-s", "-o", "/dev/null", gateway.hlsURL(room: "show") + "?n=[1-1000]"])
        }
        for crowd in crowds { _ = try await crowd.wait(.seconds(60)) }
        #expect(crowds.allSatisfy { $0.exit == .code(0) })

        let flv = try Players.flv(gateway.flvURL(room: "show"))
        #expect(try await flv.tail.keyframe(after: .now(), within: .seconds(10)) != nil)
        let index = try await get("/live/show/index.m3u8")
        #expect(index.status == 200)
        let media = try #require(index.text.split(separator: "\n").last { !$0.hasPrefix("#") })
        #expect(try await get("/live/show/" + media).status == 200)
        let recording = stage.folder.file("rtmp.flv")
        try await ChildProcess.run(
            [
                "ffmpeg", "-nostdin", "-loglevel", "error", "-i", gateway.rtmpURL(room: "show"), "-t", "1", "-c",
                "copy", recording,
            ],
            within: .seconds(20)
        )
        flv.child.end()
        host.end()

        func get(_ path: String) async throws -> GatewayResponse {
            try await gateway.request("GET", port: gateway.endpoints.httpPort, path)
        }
    }

    @Test("limits the request rate of one address without affecting another")
    func limited() async throws {
        let gateway = try await GatewayProcess(environment: ["FOOTLIGHT_LIMITS_REQUESTS": "1"])
        var statuses: [Int: Int] = [:]
        let port = gateway.endpoints.httpPort
        for number in 0..<40 {
            let headers = ["X-Forwarded-For": number < 30 ? "203.0.113.1" : "203.0.113.\(number)"]
            let reply = try await gateway.request("GET", port: port, "/live/nobody/index.m3u8", headers: headers)
            if number >= 30 { #expect(reply.status == 404) }
            statuses[reply.status, default: 0] += 1
        }
        let refused = statuses[429, default: 0]
        #expect(refused > 0, "\(statuses)")
        let metrics = try await gateway.request("GET", port: gateway.endpoints.adminPort, "/metrics").text
        let line = metrics.split(separator: "\n").first {
            $0.hasPrefix("footlight_client_refused_total{limit=\"requests\"}")
        }
        #expect(line.map { $0.hasSuffix(" \(refused)") } ?? false, "\(line ?? "") \(statuses)")
    }
}
