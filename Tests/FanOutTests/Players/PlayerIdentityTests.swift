@testable import FanOut
import FootlightTesting
import HTTPTypes
import Media
import NIOCore
import Stage
import Testing

@Suite("Who watches by HTTP")
struct PlayerIdentityTests {
    /// Takes tokens `IDENTITY@ROOM`, `monitor@ROOM` and `relay@ROOM`, after a moment; `operator@ROOM` is an operator's.
    private static let reading = PlayerReading(
        proxies: TrustedProxies(["127.0.0.1"], regionHeader: "X-Country") ?? TrustedProxies(),
        takesDevices: true
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

    /// A room on the air, behind a real port.
    private func withStand(_ body: (HTTPStand) async throws -> Void) async throws {
        try await withLoops { group in
            let stand = try await HTTPStand(group, reading: Self.reading)
            let program = stand.hls.open("r")
            stand.feeds.open("r").attach(program)
            for packet in Packets.program(seconds: 12) { program.receive(packet) }
            stand.feeds.open("r").receive(Packets.key(0))
            try await body(stand)
        }
    }

    /// The status of the answer to one request.
    private func status(of path: String, fields: String = "", _ stand: HTTPStand) async throws -> Int {
        let client = try await stand.connect()
        try await client.send("GET \(path) HTTP/1.1\r\nHost: h\r\n\(fields)\r\n")
        #expect(try await eventually { client.answer != nil })
        let words = client.answer?.header.split(separator: " ") ?? []
        try await client.close()
        return words.count > 1 ? Int(words[1]) ?? 0 : 0
    }

    @Test(
        "A token says who it is, and a trusted server from where, to HLS and to HTTP-FLV alike",
        arguments: [
            "/live/r/index.m3u8", "/live/r.flv",
        ]
    )
    func identity(path: String) async throws {
        try await withStand { stand in
            let fields = "User-Agent: VLC/3.0\r\nX-Forwarded-For: 203.0.113.9\r\nX-Country: de\r\n"
            let good = try await status(of: path + "?token=ann@r&did=0123456789abcdef", fields: fields, stand)
            let monitor = try await status(of: path + "?token=monitor@r", stand)
            let anybody = try await status(of: path, fields: "User-Agent: robot\r\n", stand)
            #expect(good == 200 && monitor == 200 && anybody == 200)
            let requests = stand.audience.requests
            #expect(requests.map(\.identity) == ["ann", "monitor", nil])
            #expect(requests.map(\.role) == [.viewer, .monitor, .viewer])
            #expect(requests[0].userAgent == "VLC/3.0" && requests[0].device == "0123456789abcdef")
            #expect(requests[0].address == "203.0.113.9" && requests[0].region == "de")
            #expect(requests[1].address == "127.0.0.1" && requests[1].region == nil)
            let wrong = try await status(of: path + "?token=ann@other", stand)
            #expect(wrong == 403)
            #expect(stand.audience.requests.count == 3)
            let sids = Set(stand.audience.events.map(\.sid))
            #expect(sids == (path.hasSuffix(".flv") ? ["r-1", "no-r-2", "no-r-3"] : []))
        }
    }

    @Test(
        "An operator's token in the address is refused with 403 and 20106, and nobody is counted",
        arguments: ["/live/r/index.m3u8", "/live/r.flv"]
    )
    func operatorToken(path: String) async throws {
        try await withStand { stand in
            let client = try await stand.connect()
            try await client.send("GET \(path)?token=operator@r HTTP/1.1\r\nHost: h\r\n\r\n")
            #expect(try await eventually { client.answer != nil })
            let answer = try #require(client.answer)
            #expect(answer.header.hasPrefix("HTTP/1.1 403"))
            let body = String(buffer: answer.body)
            #expect(body.contains("\"code\":20106") && body.contains("operator's token"), "\(body)")
            #expect(stand.audience.requests.isEmpty)
            try await client.close()
        }
    }

    @Test("What is asked behind a token on the same connection waits for its answer")
    func order() async throws {
        try await withStand { stand in
            let client = try await stand.connect()
            try await client.send(
                "GET /live/r/index.m3u8?token=ann@r HTTP/1.1\r\nHost: h\r\n\r\n"
                    + "GET /live/none/index.m3u8 HTTP/1.1\r\nHost: h\r\n\r\n"
            )
            var headers: [String] = []
            let isWhole = try await eventually {
                while let answer = client.takeAnswer() { headers.append(answer.header) }
                return headers.count == 2
            }
            #expect(isWhole)
            #expect(headers.map { String($0.prefix(12)) } == ["HTTP/1.1 200", "HTTP/1.1 404"])
        }
    }

    @Test("A media playlist goes by its session id, whatever token stands beside it")
    func mediaPlaylist() async throws {
        try await withStand { stand in
            let answered = try await status(of: "/live/r/media.m3u8?sid=r-7&token=wrong", stand)
            #expect(answered == 200)
            #expect(stand.audience.story == ["playlist r-7"])
        }
    }

    @Test("What a network asks on behalf of a viewer is left to its log, if it proves that it is one")
    func relayed() async throws {
        try await withStand { (stand) async throws in
            let path = "/live/r/media.m3u8?sid=r-7"
            #expect(try await status(of: path, fields: "X-Footlight-Relay: relay@r\r\n", stand) == 200)
            let foreign = "/live/r/media.m3u8?sid=x-7"
            #expect(try await status(of: foreign, fields: "X-Footlight-Relay: relay@r\r\n", stand) == 403)
            #expect(stand.audience.story.isEmpty && stand.audience.requests.isEmpty)
            #expect(try await status(of: path, fields: "X-Footlight-Relay: old\r\n", stand) == 200)
            #expect(stand.audience.story == ["playlist r-7"])
            // On the way to its session it is a player like any, with the token in its address if it has one.
            let index = "/live/r/index.m3u8?token=relay@r"
            #expect(try await status(of: index, fields: "X-Footlight-Relay: old\r\n", stand) == 200)
            #expect(stand.audience.requests.map(\.role) == [.viewer, .relay])
        }
    }
}
