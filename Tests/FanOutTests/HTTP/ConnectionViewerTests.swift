@testable import FanOut
import HTTPTypes
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
}
