@testable import FanOut
import FootlightTesting
import HTTPTypes
import Media
import NIOCore
import Stage
import Testing

@Suite("Player identity over HTTP")
struct PlayerIdentityTests {
    /// Accepts tokens `IDENTITY@ROOM`, `monitor@ROOM` and `relay@ROOM` after a delay; `operator@ROOM` is an operator's.
    private static let trust = ClientTrustPolicy(
        proxies: TrustedProxies(["127.0.0.1"], regionHeader: "X-Country") ?? TrustedProxies(),
        usesDeviceIDs: true
    ) { token, room in
        await Task.yield()
        let parts = token.split(separator: "@")
        guard parts.count == 2, parts[1] == room else { throw ViewerTokenRefusal.invalid }
        guard parts[0] != "operator" else { throw ViewerTokenRefusal.operatorToken }
        return ViewerBearer(
            identity: String(parts[0]),
            role: PlayerRequest.Role(rawValue: String(parts[0])) ?? .viewer
        )
    }

    /// Runs `body` with a room on air behind a port.
    private func withFixture(_ body: (HTTPFixture) async throws -> Void) async throws {
        try await withLoops { group in
            let fixture = try await HTTPFixture(group, trust: Self.trust)
            let program = fixture.hls.open("r")
            fixture.feeds.open("r").attach(program)
            for packet in Packets.program(seconds: 12) { program.receive(packet) }
            fixture.feeds.open("r").receive(Packets.key(0))
            try await body(fixture)
        }
    }

    /// Returns the status of the response to one request.
    private func status(of path: String, fields: String = "", _ fixture: HTTPFixture) async throws -> Int {
        let client = try await fixture.connect()
        try await client.send("GET \(path) HTTP/1.1\r\nHost: h\r\n\(fields)\r\n")
        #expect(try await eventually { client.answer != nil })
        let words = client.answer?.header.split(separator: " ") ?? []
        try await client.close()
        return words.count > 1 ? Int(words[1]) ?? 0 : 0
    }

    @Test(
        "takes the identity from the token and the origin from a trusted proxy, for HLS and HTTP-FLV",
        arguments: [
            "/live/r/index.m3u8", "/live/r.flv",
        ]
    )
    func identity(path: String) async throws {
        try await withFixture { fixture in
            let fields = "User-Agent: VLC/3.0\r\nX-Forwarded-For: 203.0.113.9\r\nX-Country: de\r\n"
            let good = try await status(of: path + "?token=ann@r&did=0123456789abcdef", fields: fields, fixture)
            let monitor = try await status(of: path + "?token=monitor@r", fixture)
            let anybody = try await status(of: path, fields: "User-Agent: robot\r\n", fixture)
            #expect(good == 200 && monitor == 200 && anybody == 200)
            let requests = fixture.audience.requests
            #expect(requests.map(\.identity) == ["ann", "monitor", nil])
            #expect(requests.map(\.role) == [.viewer, .monitor, .viewer])
            #expect(requests[0].userAgent == "VLC/3.0" && requests[0].device == "0123456789abcdef")
            #expect(requests[0].address == "203.0.113.9" && requests[0].region == "de")
            #expect(requests[1].address == "127.0.0.1" && requests[1].region == nil)
            let wrong = try await status(of: path + "?token=ann@other", fixture)
            #expect(wrong == 403)
            #expect(fixture.audience.requests.count == 3)
            let sids = Set(fixture.audience.events.map(\.sid))
            #expect(sids == (path.hasSuffix(".flv") ? ["r-1", "no-r-2", "no-r-3"] : []))
        }
    }

    @Test(
        "refuses an operator's token in a URL with 403 and 20106, without counting",
        arguments: ["/live/r/index.m3u8", "/live/r.flv"]
    )
    func operatorToken(path: String) async throws {
        try await withFixture { fixture in
            let client = try await fixture.connect()
            try await client.send("GET \(path)?token=operator@r HTTP/1.1\r\nHost: h\r\n\r\n")
            #expect(try await eventually { client.answer != nil })
            let answer = try #require(client.answer)
            #expect(answer.header.hasPrefix("HTTP/1.1 403"))
            let body = String(buffer: answer.body)
            #expect(body.contains("\"code\":20106") && body.contains("operator's token"), "\(body)")
            #expect(fixture.audience.requests.isEmpty)
            try await client.close()
        }
    }

    @Test("requests pipelined behind one with a token wait for its response")
    func order() async throws {
        try await withFixture { fixture in
            let client = try await fixture.connect()
            try await client.send(
                "GET /live/r/index.m3u8?token=ann@r HTTP/1.1\r\nHost: h\r\n\r\n"
                    + "GET /live/none/index.m3u8 HTTP/1.1\r\nHost: h\r\n\r\n"
            )
            var headers: [String] = []
            let isWhole = try await eventually {
                while let answer = client.nextAnswer() { headers.append(answer.header) }
                return headers.count == 2
            }
            #expect(isWhole)
            #expect(headers.map { String($0.prefix(12)) } == ["HTTP/1.1 200", "HTTP/1.1 404"])
        }
    }

    @Test("a media playlist uses its session id, whatever token it has")
    func mediaPlaylist() async throws {
        try await withFixture { fixture in
            let answered = try await status(of: "/live/r/media.m3u8?sid=r-7&token=wrong", fixture)
            #expect(answered == 200)
            #expect(fixture.audience.eventLog == ["playlist r-7"])
        }
    }

    @Test("a relay with a valid token is not recorded, because its log is")
    func relayed() async throws {
        try await withFixture { (fixture) async throws in
            let path = "/live/r/media.m3u8?sid=r-7"
            #expect(try await status(of: path, fields: "X-Footlight-Relay: relay@r\r\n", fixture) == 200)
            let foreign = "/live/r/media.m3u8?sid=x-7"
            #expect(try await status(of: foreign, fields: "X-Footlight-Relay: relay@r\r\n", fixture) == 403)
            #expect(fixture.audience.eventLog.isEmpty && fixture.audience.requests.isEmpty)
            #expect(try await status(of: path, fields: "X-Footlight-Relay: old\r\n", fixture) == 200)
            #expect(fixture.audience.eventLog == ["playlist r-7"])
            // A relay that starts a session is treated like any player.
            let index = "/live/r/index.m3u8?token=relay@r"
            #expect(try await status(of: index, fields: "X-Footlight-Relay: old\r\n", fixture) == 200)
            #expect(fixture.audience.requests.map(\.role) == [.viewer, .relay])
        }
    }
}
