@testable import FanOut
import Media
import NIOCore
import NIOEmbedded
import Stage
import Testing

@Suite("Media files over one connection")
struct MediaFilesTests {
    /// Creates a room on air, and returns the addresses of its files.
    private func onAir(limits: HTTPLimits = HTTPLimits()) throws -> (fixture: MediaServiceFixture, files: [String]) {
        let fixture = try MediaServiceFixture(limits: limits)
        fixture.goOnAir("r")
        let playlist = try #require(try fixture.exchange("/live/r/media.m3u8?sid=r-1")).text
        let files = playlist.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { "/live/r/\($0)" }
        try #require(files.count >= 3)
        return (fixture, files)
    }

    private func isStatus(_ code: Int, _ answer: [UInt8]) -> Bool { answer.starts(with: "HTTP/1.1 \(code) ".utf8) }

    @Test("attributes files to the connection's viewer, and refuses a client above its rate limit")
    func counted() throws {
        let (fixture, files) = try onAir(limits: HTTPLimits(requests: (perSecond: 0.001, burst: 4)))
        let line = try RawHTTPConnection(to: fixture, from: "192.0.2.7")
        _ = try line.ask("/live/r/media.m3u8?sid=r-5")
        let answers = try files.prefix(3).map { try line.ask($0) }
        let delivered = fixture.audience.events.filter { $0.sid == "r-5" }.dropFirst().map(\.bytes)
        let bodies = try answers.map { answer in
            let end = try #require(answer.indices.first { answer[$0...].starts(with: [13, 10, 13, 10]) })
            return answer.count - end - 4
        }
        #expect(delivered == bodies)
        #expect(
            fixture.audience.eventLog.suffix(4) == ["playlist r-5", "delivered r-5", "delivered r-5", "delivered r-5"]
        )
        #expect(isStatus(429, try line.ask(files[0])))
    }

    @Test("attributes files to client and connection if no playlist was requested on it")
    func toClients() throws {
        let (fixture, files) = try onAir()
        let line = try RawHTTPConnection(to: fixture, from: "192.0.2.7")
        let second = try RawHTTPConnection(to: fixture, from: "192.0.2.7")
        let neighbour = try RawHTTPConnection(to: fixture, from: "192.0.2.8")
        for file in files.prefix(3) { _ = try line.ask(file) }
        _ = try second.ask(files[0])
        _ = try neighbour.ask(files[0])
        let media = fixture.audience.media
        let (client, other) = (
            try #require(PeerAddress("192.0.2.7")).account, try #require(PeerAddress("192.0.2.8")).account
        )
        #expect(media.map(\.client) == [client, client, client, client, other])
        #expect(media.allSatisfy { $0.room == "r" && $0.connection != nil })
        #expect(media.prefix(3).allSatisfy { $0.connection == media[0].connection })
        #expect(Set(media.map(\.connection)).count == 3)
        // Responses without media are not attributed.
        _ = try neighbour.ask(files[0], method: "HEAD")
        #expect(isStatus(404, try neighbour.ask(files[0] + "x")))
        #expect(fixture.audience.media.count == 5 && fixture.audience.eventLog == ["playlist r-1"])
    }

    @Test("answers a file with 200, 206 or 404, also to HEAD, and reads CMCD from fields and query")
    func forms() throws {
        let (fixture, files) = try onAir()
        let line = try RawHTTPConnection(to: fixture)
        let whole = try line.ask(files[0])
        #expect(isStatus(200, whole) && whole.count > 1000)
        #expect(try line.ask(files[0]) == whole)
        #expect(isStatus(206, try line.ask(files[1], "Range: bytes=0-9\r\n")))
        #expect(isStatus(200, try line.ask(files[1], "CMCD-Status: bs\r\n")))
        #expect(isStatus(200, try line.ask(files[1] + "?CMCD=bs")))
        #expect(isStatus(404, try line.ask(files[1] + "x")))
        #expect(isStatus(200, try line.ask("/live/r/media.m3u8?sid=r-1")))
        #expect(isStatus(200, try line.ask(files[1], method: "HEAD")))
        #expect(fixture.audience.mediaRequests.compactMap(\.request.cmcdStatus) == ["bs"])
        #expect(fixture.audience.mediaRequests.compactMap(\.request.cmcd) == ["bs"])
    }

    @Test(
        "closes the connection after the file that a client requests as the last",
        arguments: ["Connection: close\r\n", "Connection: upgrade\r\nUpgrade: h2c\r\n"]
    )
    func last(fields: String) throws {
        let (fixture, files) = try onAir()
        let line = try RawHTTPConnection(to: fixture)
        let before = String(decoding: try line.ask(files[0]), as: UTF8.self)
        let after = String(decoding: try line.ask(files[0], fields), as: UTF8.self)
        #expect(after == before.replacing("\r\n\r\n", with: "\r\nConnection: close\r\n\r\n", maxReplacements: 1))
        fixture.loop.advanceTime(by: .seconds(1))
        #expect(!line.channel.isActive)
    }

    @Test("answers a file in front of and behind a chunked response, with the same bytes")
    func besideChunks() throws {
        let (fixture, files) = try onAir()
        let line = try RawHTTPConnection(to: fixture)
        let file = try line.ask(files[0])
        #expect(try line.ask("/v1/x").isEmpty)
        line.backend.respond("chunk")
        #expect(try line.received().count < 200)
        #expect(try line.ask(files[0]) == file)
        #expect(try line.ask("/v1/y").isEmpty)
        line.backend.respond("chunk")
        #expect(String(decoding: try line.received(), as: UTF8.self).hasSuffix("5\r\nchunk\r\n0\r\n\r\n"))
        #expect(line.backend.paths == ["/v1/x", "/v1/y"] && line.channel.isActive)
    }

    @Test("closes a connection after its idle timeout")
    func idle() throws {
        let (fixture, files) = try onAir(limits: HTTPLimits(idle: .zero, header: .seconds(100), idleCheck: .seconds(5)))
        let line = try RawHTTPConnection(to: fixture)
        for file in files.prefix(2) { _ = try line.ask(file) }
        #expect(line.channel.isActive)
        fixture.loop.advanceTime(by: .seconds(5))
        #expect(!line.channel.isActive)
    }

    @Test("does not answer a file before an earlier request on the connection")
    func order() throws {
        let (fixture, files) = try onAir()
        let line = try RawHTTPConnection(to: fixture)
        _ = try line.ask(files[0])
        #expect(try line.ask("/v1/slow").isEmpty)
        #expect(try line.ask(files[1]).isEmpty)
        line.backend.respond("slow")
        let both = try line.received()
        #expect(both.starts(with: "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nslow\r\n0\r\n\r\n".utf8))
        #expect(both.count > 1000)
    }

    @Test("does not parse a request inside another one")
    func middle() throws {
        let (fixture, files) = try onAir()
        let file = "GET \(files[1]) HTTP/1.1\r\nHost: a.example\r\n\r\n"
        let line = try RawHTTPConnection(to: fixture)
        _ = try line.ask(files[0])
        // A request in two pieces, the second of which looks like a request.
        #expect(try line.send("GET /v1/x HTTP/1.1\r\nHost: a.example\r\nX-Told: ").isEmpty)
        #expect(try line.send(file).isEmpty)
        #expect(line.backend.paths == ["/v1/x"])
        line.backend.respond("x")
        #expect(try line.received().count < 200)

        // A body that looks like a request.
        let other = try RawHTTPConnection(to: fixture)
        _ = try other.ask(files[0])
        #expect(try other.ask("/v1/x", "Content-Length: \(file.utf8.count)\r\n", method: "GET").isEmpty)
        #expect(try other.send(file).isEmpty)
        #expect(other.backend.bodies == file)

        // Two requests at once, and one whose end contains the start of another.
        let third = try RawHTTPConnection(to: fixture)
        let reference = try third.ask(files[1])
        #expect(try third.send(file + file) == reference + reference)
        #expect(try third.send(file + "GET ").count == reference.count)
        #expect(try third.send("/v1/late HTTP/1.1\r\nHost: a.example\r\n\r\n").isEmpty)
        #expect(third.backend.paths == ["/v1/late"])
    }

    @Test(
        "does not parse a request in a body that arrives after the response",
        arguments: ["Content-Length: $\r\n", "content-LENGTH:$\r\n", "Transfer-Encoding: chunked\r\n"]
    )
    func bodyBehindAnswer(field: String) throws {
        let (fixture, files) = try onAir()
        let file = "GET \(files[1]) HTTP/1.1\r\nHost: a.example\r\n\r\n"
        let length = file.utf8.count
        let line = try RawHTTPConnection(to: fixture)
        _ = try line.ask(files[0])
        #expect(try line.ask("/v1/x", field.replacing("$", with: "\(length)")).isEmpty)
        line.backend.respond("early")
        #expect(try line.received().count < 200)
        let isChunked = field.hasPrefix("T")
        if isChunked { #expect(try line.send(String(length, radix: 16) + "\r\n").isEmpty) }
        #expect(try line.send(file).isEmpty)
        if isChunked { #expect(try line.send("\r\n0\r\n\r\n").isEmpty) }
        #expect(line.backend.bodies == file && line.backend.ends == 1)
        // The next request is parsed again.
        #expect(isStatus(200, try line.ask(files[2])))
    }

    @Test("an ended room keeps its files, and a restarted one has none of them")
    func ended() throws {
        let (fixture, files) = try onAir()
        let line = try RawHTTPConnection(to: fixture)
        _ = try line.ask(files[0])
        #expect(isStatus(200, try line.ask(files[1])))
        // Played to its end.
        fixture.hls.close("r")
        #expect(isStatus(200, try line.ask(files[1])))
        fixture.goOnAir("r")
        #expect(isStatus(404, try line.ask(files[1])))
    }
}
