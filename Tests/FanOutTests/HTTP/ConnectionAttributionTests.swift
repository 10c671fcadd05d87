@testable import FanOut
import HTTPTypes
import Media
import NIOCore
import Stage
import Testing

@Suite("Attribution of media to viewers")
struct ConnectionAttributionTests {
    private func bytes(_ fixture: MediaServiceFixture, of sid: String) -> [Int] {
        fixture.audience.events.filter { $0.sid == sid }.map(\.bytes)
    }

    private func segment(_ playlist: String?) throws -> String {
        try #require(playlist?.split(separator: "\n").last { !$0.hasPrefix("#") }).description
    }

    @Test("attributes segments and their sizes to the connection's player")
    func own() throws {
        let fixture = try MediaServiceFixture()
        fixture.goOnAir("r")
        let playlist = try #require(try fixture.exchange("/live/r/media.m3u8?sid=r-5"))
        let path = try "/live/r/" + segment(playlist.text)
        let media = try #require(try fixture.exchange(path))
        let part = try #require(try fixture.exchange(path, fields: [.range: "bytes=0-99"]))
        #expect(try fixture.exchange(path, method: .head)?.body.readableBytes == 0)
        #expect(fixture.audience.eventLog == ["playlist r-5", "delivered r-5", "delivered r-5"])
        #expect(bytes(fixture, of: "r-5") == [playlist.body.readableBytes, media.body.readableBytes, 100])
        #expect(part.body.readableBytes == 100)
    }

    @Test("does not attribute segments on a connection of several players")
    func shared() throws {
        let fixture = try MediaServiceFixture()
        fixture.goOnAir("r")
        let path = try "/live/r/" + segment(fixture.exchange("/live/r/media.m3u8?sid=r-5")?.text)
        _ = try fixture.exchange("/live/r/media.m3u8?sid=r-6")
        _ = try fixture.exchange(path)
        _ = try fixture.exchange("/live/r/media.m3u8?sid=r-5")
        _ = try fixture.exchange(path)
        #expect(fixture.audience.eventLog == ["playlist r-5", "playlist r-6", "playlist r-5"])
    }

    @Test("attributes files on such a connection to the client of each request, each with a new connection id")
    func sharedFiles() throws {
        let fixture = try MediaServiceFixture(from: "127.0.0.1")
        fixture.goOnAir("r")
        let path = try "/live/r/" + segment(fixture.exchange("/live/r/media.m3u8?sid=r-5")?.text)
        _ = try fixture.exchange(path)
        #expect(fixture.audience.media.isEmpty)
        _ = try fixture.exchange("/live/r/media.m3u8?sid=r-6")
        let forwarded = try #require(HTTPField.Name("X-Forwarded-For"))
        for address in ["192.0.2.7", "192.0.2.7", "192.0.2.8"] {
            _ = try fixture.exchange(path, fields: [forwarded: address])
        }
        let media = fixture.audience.media
        let expected = ["192.0.2.7", "192.0.2.7", "192.0.2.8"].map { PeerAddress($0)?.account }
        #expect(media.map(\.client) == expected && media.allSatisfy { $0.room == "r" })
        #expect(Set(media.compactMap(\.connection)).count == 3)
    }

    @Test("does not attribute an initialization segment without a playlist")
    func initialization() throws {
        let fixture = try MediaServiceFixture(from: "127.0.0.1")
        fixture.goOnAir("r")
        let other = try fixture.connect()
        try fixture.ask("/live/r/media.m3u8?sid=r-5", on: other)
        let playlist = try #require(try fixture.answer(on: other)?.text)
        let map = try #require(playlist.firstMatch(of: /#EXT-X-MAP:URI="([^"]+)"/)).output.1
        let sent = try #require(try fixture.exchange("/live/r/\(map)"))
        #expect(sent.status == 200 && sent.body.readableBytes > 0)
        #expect(fixture.audience.media.isEmpty)
        _ = try fixture.exchange("/live/r/" + segment(playlist))
        #expect(fixture.audience.media.count == 1)
    }

    @Test(
        "playlists tell whether all media of a player is seen here: not behind a proxy that may have a cache",
        arguments: [true, false]
    )
    func seen(isCached: Bool) throws {
        let proxies = TrustedProxies()
        proxies.cacheMedia = isCached
        let fixture = try MediaServiceFixture(trust: ClientTrustPolicy(proxies: proxies))
        fixture.goOnAir("r")
        let forwarded = try #require(HTTPField.Name("X-Forwarded-For"))
        let path = try "/live/r/" + segment(fixture.exchange("/live/r/media.m3u8?sid=r-5")?.text)
        _ = try fixture.exchange(path)
        _ = try fixture.exchange("/live/r/media.m3u8?sid=r-6", fields: [forwarded: "192.0.2.7"])
        #expect(fixture.audience.eventLog == ["playlist r-5", "delivered r-5", "playlist r-6"])
        #expect(fixture.audience.requests.map(\.isMediaSeen) == [true, !isCached])
        #expect(fixture.audience.events.map(\.isMediaSeen) == [true, true, !isCached])
    }

    @Test("reports CMCD of media requests with the session of the connection")
    func errorBody() throws {
        let fixture = try MediaServiceFixture()
        fixture.goOnAir("r")
        let path = try "/live/r/" + segment(fixture.exchange("/live/r/media.m3u8?sid=r-5")?.text)
        let status = try #require(HTTPField.Name("CMCD-Status"))
        _ = try fixture.exchange(path + "?CMCD=bs%2Csid%3D%22mine%22")
        _ = try fixture.exchange(path, fields: [status: "bs"])
        _ = try fixture.exchange(path, method: .head)
        _ = try fixture.exchange("/live/r/media.m3u8?sid=r-6")
        _ = try fixture.exchange(path, fields: [status: "bs"])
        let mediaRequests = fixture.audience.mediaRequests
        #expect(mediaRequests.map(\.sid) == ["r-5", "r-5", nil])
        #expect(mediaRequests.map(\.request.cmcd) == ["bs%2Csid%3D%22mine%22", nil, nil])
        #expect(mediaRequests.map(\.request.cmcdStatus) == [nil, "bs", "bs"])
    }

    @Test("does not attribute a segment before any playlist")
    func unknown() throws {
        let fixture = try MediaServiceFixture()
        fixture.goOnAir("r")
        let other = try fixture.connect()
        try fixture.ask("/live/r/media.m3u8?sid=r-5", on: other)
        let path = try "/live/r/" + segment(fixture.answer(on: other)?.text)
        _ = try fixture.exchange(path)
        #expect(fixture.audience.eventLog == ["playlist r-5"])
    }

    @Test("attributes files whose path names a session to that session, on any connection")
    func named() throws {
        let fixture = try MediaServiceFixture(trust: ClientTrustPolicy(namesSessionsInPaths: true))
        fixture.goOnAir("r")
        let index = try #require(try fixture.exchange("/live/r/index.m3u8")?.text)
        let address = try segment(index)
        #expect(address.hasPrefix("~") && address.hasSuffix("/media.m3u8"))
        let sid = String(address.dropFirst().prefix { $0 != "/" })
        let other = try fixture.connect()
        try fixture.ask("/live/r/" + address, on: other)
        let file = try segment(fixture.answer(on: other)?.text)
        let media = try #require(try fixture.exchange("/live/r/~\(sid)/" + file))
        // The same request again.
        _ = try fixture.exchange("/live/r/~\(sid)/" + file)
        #expect(fixture.audience.eventLog == ["playlist \(sid)", "delivered \(sid)", "delivered \(sid)"])
        #expect(bytes(fixture, of: sid).last == media.body.readableBytes)
        // On a connection that also carries a session in the query.
        _ = try fixture.exchange("/live/r/media.m3u8?sid=r-6")
        _ = try fixture.exchange("/live/r/~\(sid)/" + file)
        #expect(fixture.audience.eventLog.last == "delivered \(sid)")
    }

    @Test(
        "files have one address for all viewers behind proxies",
        arguments: ["X-Forwarded-For", "Forwarded", "Via"]
    )
    func throughServers(field: String) throws {
        let fixture = try MediaServiceFixture(trust: ClientTrustPolicy(namesSessionsInPaths: true))
        fixture.goOnAir("r")
        let name = try #require(HTTPField.Name(field))
        let index = try #require(try fixture.exchange("/live/r/index.m3u8", fields: [name: "192.0.2.7"])?.text)
        #expect(try segment(index).hasPrefix("media.m3u8?sid="))
    }
}
