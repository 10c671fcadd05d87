@testable import FanOut
import Media
import NIOCore
import NIOEmbedded
import Stage
import Testing

@Suite("Media files over one connection")
struct MediaFilesTests {
    /// A room on air, and the addresses of its files.
    private func onAir(limits: HTTPLimits = HTTPLimits()) throws -> (stand: SiteStand, files: [String]) {
        let stand = try SiteStand(limits: limits)
        stand.goOnAir("r")
        let playlist = try #require(try stand.exchange("/live/r/media.m3u8?sid=r-1")).text
        let files = playlist.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { "/live/r/\($0)" }
        try #require(files.count >= 3)
        return (stand, files)
    }

    private func isStatus(_ code: Int, _ answer: [UInt8]) -> Bool { answer.starts(with: "HTTP/1.1 \(code) ".utf8) }

    @Test("Files are delivered to the connection's viewer, and refused to a client beyond its budget")
    func counted() throws {
        let (stand, files) = try onAir(limits: HTTPLimits(requests: (perSecond: 0.001, burst: 4)))
        let line = try ByteLine(to: stand, from: "192.0.2.7")
        _ = try line.ask("/live/r/media.m3u8?sid=r-5")
        let answers = try files.prefix(3).map { try line.ask($0) }
        let delivered = stand.audience.events.filter { $0.sid == "r-5" }.dropFirst().map(\.bytes)
        let bodies = try answers.map { answer in
            let end = try #require(answer.indices.first { answer[$0...].starts(with: [13, 10, 13, 10]) })
            return answer.count - end - 4
        }
        #expect(delivered == bodies)
        #expect(stand.audience.story.suffix(4) == ["playlist r-5", "delivered r-5", "delivered r-5", "delivered r-5"])
        #expect(isStatus(429, try line.ask(files[0])))
    }

    @Test("Files count for the client and the connection where no playlist was requested on it")
    func toClients() throws {
        let (stand, files) = try onAir()
        let line = try ByteLine(to: stand, from: "192.0.2.7")
        let second = try ByteLine(to: stand, from: "192.0.2.7")
        let neighbour = try ByteLine(to: stand, from: "192.0.2.8")
        for file in files.prefix(3) { _ = try line.ask(file) }
        _ = try second.ask(files[0])
        _ = try neighbour.ask(files[0])
        let media = stand.audience.media
        let (client, other) = (
            try #require(PeerAddress("192.0.2.7")).account, try #require(PeerAddress("192.0.2.8")).account
        )
        #expect(media.map(\.client) == [client, client, client, client, other])
        #expect(media.allSatisfy { $0.room == "r" && $0.connection != nil })
        #expect(media.prefix(3).allSatisfy { $0.connection == media[0].connection })
        #expect(Set(media.map(\.connection)).count == 3)
        // What carries no media is told of nobody.
        _ = try neighbour.ask(files[0], method: "HEAD")
        #expect(isStatus(404, try neighbour.ask(files[0] + "x")))
        #expect(stand.audience.media.count == 5 && stand.audience.story == ["playlist r-1"])
    }

    @Test("A file is answered with 200, 206, 404 or to HEAD, and CMCD is read from its field and its query")
    func forms() throws {
        let (stand, files) = try onAir()
        let line = try ByteLine(to: stand)
        let whole = try line.ask(files[0])
        #expect(isStatus(200, whole) && whole.count > 1000)
        #expect(try line.ask(files[0]) == whole)
        #expect(isStatus(206, try line.ask(files[1], "Range: bytes=0-9\r\n")))
        #expect(isStatus(200, try line.ask(files[1], "CMCD-Status: bs\r\n")))
        #expect(isStatus(200, try line.ask(files[1] + "?CMCD=bs")))
        #expect(isStatus(404, try line.ask(files[1] + "x")))
        #expect(isStatus(200, try line.ask("/live/r/media.m3u8?sid=r-1")))
        #expect(isStatus(200, try line.ask(files[1], method: "HEAD")))
        #expect(stand.audience.heard.compactMap(\.request.cmcdStatus) == ["bs"])
        #expect(stand.audience.heard.compactMap(\.request.cmcd) == ["bs"])
    }

    @Test("A connection on which files were requested is closed when it has been idle for its time")
    func idle() throws {
        let (stand, files) = try onAir(limits: HTTPLimits(idle: .zero, header: .seconds(100), idleCheck: .seconds(5)))
        let line = try ByteLine(to: stand)
        for file in files.prefix(2) { _ = try line.ask(file) }
        #expect(line.channel.isActive)
        stand.loop.advanceTime(by: .seconds(5))
        #expect(!line.channel.isActive)
    }

    @Test("A file is not answered ahead of an earlier request on the connection")
    func order() throws {
        let (stand, files) = try onAir()
        let line = try ByteLine(to: stand)
        _ = try line.ask(files[0])
        #expect(try line.ask("/v1/slow").isEmpty)
        #expect(try line.ask(files[1]).isEmpty)
        line.behind.respond("slow")
        let both = try line.received()
        #expect(both.starts(with: "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nslow\r\n0\r\n\r\n".utf8))
        #expect(both.count > 1000)
    }

    @Test("Bytes in the middle of another request are no request, whatever they look like")
    func middle() throws {
        let (stand, files) = try onAir()
        let file = "GET \(files[1]) HTTP/1.1\r\nHost: a.example\r\n\r\n"
        let line = try ByteLine(to: stand)
        _ = try line.ask(files[0])
        // A request in two pieces, of which the second looks like one.
        #expect(try line.send("GET /v1/x HTTP/1.1\r\nHost: a.example\r\nX-Told: ").isEmpty)
        #expect(try line.send(file).isEmpty)
        #expect(line.behind.paths == ["/v1/x"])
        line.behind.respond("x")
        #expect(try line.received().count < 200)

        // A body that looks like one.
        let other = try ByteLine(to: stand)
        _ = try other.ask(files[0])
        #expect(try other.ask("/v1/x", "Content-Length: \(file.utf8.count)\r\n", method: "GET").isEmpty)
        #expect(try other.send(file).isEmpty)
        #expect(other.behind.bodies == file)

        // Two at once, and one whose end has begun another.
        let third = try ByteLine(to: stand)
        let reference = try third.ask(files[1])
        #expect(try third.send(file + file) == reference + reference)
        #expect(try third.send(file + "GET ").count == reference.count)
        #expect(try third.send("/v1/late HTTP/1.1\r\nHost: a.example\r\n\r\n").isEmpty)
        #expect(third.behind.paths == ["/v1/late"])
    }

    @Test(
        "The body of a request is no request, though the request was answered before its body came",
        arguments: ["Content-Length: $\r\n", "content-LENGTH:$\r\n", "Transfer-Encoding: chunked\r\n"]
    )
    func bodyBehindAnswer(field: String) throws {
        let (stand, files) = try onAir()
        let file = "GET \(files[1]) HTTP/1.1\r\nHost: a.example\r\n\r\n"
        let length = file.utf8.count
        let line = try ByteLine(to: stand)
        _ = try line.ask(files[0])
        #expect(try line.ask("/v1/x", field.replacing("$", with: "\(length)")).isEmpty)
        line.behind.respond("early")
        #expect(try line.received().count < 200)
        let isChunked = field.hasPrefix("T")
        if isChunked { #expect(try line.send(String(length, radix: 16) + "\r\n").isEmpty) }
        #expect(try line.send(file).isEmpty)
        if isChunked { #expect(try line.send("\r\n0\r\n\r\n").isEmpty) }
        #expect(line.behind.bodies == file && line.behind.ends == 1)
        // The next request is one again.
        #expect(isStatus(200, try line.ask(files[2])))
    }

    @Test("A room that ended keeps its files, and one that began anew has none of the old ones")
    func ended() throws {
        let (stand, files) = try onAir()
        let line = try ByteLine(to: stand)
        _ = try line.ask(files[0])
        #expect(isStatus(200, try line.ask(files[1])))
        // Played to its end.
        stand.hls.close("r")
        #expect(isStatus(200, try line.ask(files[1])))
        stand.goOnAir("r")
        #expect(isStatus(404, try line.ask(files[1])))
    }
}
