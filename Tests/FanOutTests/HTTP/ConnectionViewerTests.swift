@testable import FanOut
import HTTPTypes
import Media
import NIOCore
import Stage
import Testing

@Suite("Whose bytes a connection carries")
struct ConnectionViewerTests {
    private func bytes(_ stand: SiteStand, of sid: String) -> [Int] {
        stand.audience.events.filter { $0.sid == sid }.map(\.bytes)
    }

    private func segment(_ playlist: String?) throws -> String {
        try #require(playlist?.split(separator: "\n").last { !$0.hasPrefix("#") }).description
    }

    @Test("a player's segments are told as its own, with their size, beside its playlists")
    func own() throws {
        let stand = try SiteStand()
        stand.goOnAir("r")
        let playlist = try #require(try stand.exchange("/live/r/media.m3u8?sid=r-5"))
        let path = try "/live/r/" + segment(playlist.text)
        let media = try #require(try stand.exchange(path))
        let part = try #require(try stand.exchange(path, fields: [.range: "bytes=0-99"]))
        #expect(try stand.exchange(path, method: .head)?.body.readableBytes == 0)
        #expect(stand.audience.story == ["playlist r-5", "delivered r-5", "delivered r-5"])
        #expect(bytes(stand, of: "r-5") == [playlist.body.readableBytes, media.body.readableBytes, 100])
        #expect(part.body.readableBytes == 100)
    }

    @Test("on a connection that several players' requests come by, segments are nobody's")
    func shared() throws {
        let stand = try SiteStand()
        stand.goOnAir("r")
        let path = try "/live/r/" + segment(stand.exchange("/live/r/media.m3u8?sid=r-5")?.text)
        _ = try stand.exchange("/live/r/media.m3u8?sid=r-6")
        _ = try stand.exchange(path)
        _ = try stand.exchange("/live/r/media.m3u8?sid=r-5")
        _ = try stand.exchange(path)
        #expect(stand.audience.story == ["playlist r-5", "playlist r-6", "playlist r-5"])
    }

    @Test("on such a connection files have gone to the client that each request names, each by a connection of its own")
    func sharedFiles() throws {
        let stand = try SiteStand(from: "127.0.0.1")
        stand.goOnAir("r")
        let path = try "/live/r/" + segment(stand.exchange("/live/r/media.m3u8?sid=r-5")?.text)
        _ = try stand.exchange(path)
        #expect(stand.audience.media.isEmpty)
        _ = try stand.exchange("/live/r/media.m3u8?sid=r-6")
        let forwarded = try #require(HTTPField.Name("X-Forwarded-For"))
        for address in ["192.0.2.7", "192.0.2.7", "192.0.2.8"] {
            _ = try stand.exchange(path, fields: [forwarded: address])
        }
        let media = stand.audience.media
        let expected = ["192.0.2.7", "192.0.2.7", "192.0.2.8"].map { PeerAddress($0)?.account }
        #expect(media.map(\.client) == expected && media.allSatisfy { $0.room == "r" })
        #expect(Set(media.compactMap(\.connection)).count == 3)
    }

    @Test("an initialization that was sent without any playlist beside it is nobody's media")
    func initialization() throws {
        let stand = try SiteStand(from: "127.0.0.1")
        stand.goOnAir("r")
        let other = try stand.connect()
        try stand.ask("/live/r/media.m3u8?sid=r-5", on: other)
        let playlist = try #require(try stand.answer(on: other)?.text)
        let map = try #require(playlist.firstMatch(of: /#EXT-X-MAP:URI="([^"]+)"/)).output.1
        let sent = try #require(try stand.exchange("/live/r/\(map)"))
        #expect(sent.status == 200 && sent.body.readableBytes > 0)
        #expect(stand.audience.media.isEmpty)
        _ = try stand.exchange("/live/r/" + segment(playlist))
        #expect(stand.audience.media.count == 1)
    }

    @Test(
        "whether all media of a player is seen here is said of each playlist: not where a server in front may have a cache",
        arguments: [true, false]
    )
    func seen(isCached: Bool) throws {
        var proxies = TrustedProxies()
        proxies.cacheMedia = isCached
        let stand = try SiteStand(reading: PlayerReading(proxies: proxies))
        stand.goOnAir("r")
        let forwarded = try #require(HTTPField.Name("X-Forwarded-For"))
        let path = try "/live/r/" + segment(stand.exchange("/live/r/media.m3u8?sid=r-5")?.text)
        _ = try stand.exchange(path)
        _ = try stand.exchange("/live/r/media.m3u8?sid=r-6", fields: [forwarded: "192.0.2.7"])
        #expect(stand.audience.story == ["playlist r-5", "delivered r-5", "playlist r-6"])
        #expect(stand.audience.requests.map(\.isMediaSeen) == [true, !isCached])
        #expect(stand.audience.events.map(\.isMediaSeen) == [true, true, !isCached])
    }

    @Test("what a player says with its requests for media is told, with whose connection it is")
    func said() throws {
        let stand = try SiteStand()
        stand.goOnAir("r")
        let path = try "/live/r/" + segment(stand.exchange("/live/r/media.m3u8?sid=r-5")?.text)
        let status = try #require(HTTPField.Name("CMCD-Status"))
        _ = try stand.exchange(path + "?CMCD=bs%2Csid%3D%22mine%22")
        _ = try stand.exchange(path, fields: [status: "bs"])
        _ = try stand.exchange(path, method: .head)
        _ = try stand.exchange("/live/r/media.m3u8?sid=r-6")
        _ = try stand.exchange(path, fields: [status: "bs"])
        let heard = stand.audience.heard
        #expect(heard.map(\.sid) == ["r-5", "r-5", nil])
        #expect(heard.map(\.request.cmcd) == ["bs%2Csid%3D%22mine%22", nil, nil])
        #expect(heard.map(\.request.cmcdStatus) == [nil, "bs", "bs"])
    }

    @Test("a segment before any playlist is nobody's")
    func unknown() throws {
        let stand = try SiteStand()
        stand.goOnAir("r")
        let other = try stand.connect()
        try stand.ask("/live/r/media.m3u8?sid=r-5", on: other)
        let path = try "/live/r/" + segment(stand.answer(on: other)?.text)
        _ = try stand.exchange(path)
        #expect(stand.audience.story == ["playlist r-5"])
    }

    @Test("a direct player's addresses name its session, and each file is that session's, on whichever connection")
    func named() throws {
        let stand = try SiteStand(reading: PlayerReading(namesSessionsInPaths: true))
        stand.goOnAir("r")
        let index = try #require(try stand.exchange("/live/r/index.m3u8")?.text)
        let address = try segment(index)
        #expect(address.hasPrefix("~") && address.hasSuffix("/media.m3u8"))
        let sid = String(address.dropFirst().prefix { $0 != "/" })
        let other = try stand.connect()
        try stand.ask("/live/r/" + address, on: other)
        let file = try segment(stand.answer(on: other)?.text)
        let media = try #require(try stand.exchange("/live/r/~\(sid)/" + file))
        // Another time in the same words, which is answered the short way.
        _ = try stand.exchange("/live/r/~\(sid)/" + file)
        #expect(stand.audience.story == ["playlist \(sid)", "delivered \(sid)", "delivered \(sid)"])
        #expect(bytes(stand, of: sid).last == media.body.readableBytes)
        // Beside others on the connection of one that is known by its query.
        _ = try stand.exchange("/live/r/media.m3u8?sid=r-6")
        _ = try stand.exchange("/live/r/~\(sid)/" + file)
        #expect(stand.audience.story.last == "delivered \(sid)")
    }

    @Test(
        "through servers in front files have one address for all",
        arguments: ["X-Forwarded-For", "Forwarded", "Via"]
    )
    func throughServers(field: String) throws {
        let stand = try SiteStand(reading: PlayerReading(namesSessionsInPaths: true))
        stand.goOnAir("r")
        let name = try #require(HTTPField.Name(field))
        let index = try #require(try stand.exchange("/live/r/index.m3u8", fields: [name: "192.0.2.7"])?.text)
        #expect(try segment(index).hasPrefix("media.m3u8?sid="))
    }
}
