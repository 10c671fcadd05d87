@testable import FanOut
import Foundation
import HTTPTypes
import Stage
import Testing

@Suite("New viewers while there is no room, by HTTP")
struct BusyGatewayTests {
    private func isBusy(_ answer: SiteStand.Answer?) throws -> Bool {
        let answer = try #require(answer)
        guard answer.status == 503, answer.head.headerFields[.retryAfter] == "5" else { return false }
        #expect(answer.head.headerFields[.contentType] == "application/json; charset=utf-8")
        #expect(answer.head.headerFields[.cacheControl] == "no-store")
        #expect(answer.head.headerFields[.accessControlAllowOrigin] == "*")
        let body = try JSONSerialization.jsonObject(with: Data(answer.text.utf8)) as? [String: [String: Any]]
        let error = try #require(body?["error"])
        let keys = ["cause", "code", "message", "more_info", "name", "retry_after", "retryable", "solution", "status"]
        #expect(error.keys.sorted() == keys)
        #expect(error["retryable"] as? Bool == true)
        return error["code"] as? Int == 53006 && error["status"] as? Int == 503 && error["retry_after"] as? Int == 5
    }

    @Test("HLS: a newcomer is refused with 503, a code and a time; who watches gets playlists and segments as ever")
    func playlists() throws {
        let stand = try SiteStand()
        let program = stand.goOnAir("r")
        let index = try #require(try stand.exchange("/live/r/index.m3u8"))
        let media = try #require(index.text.split(separator: "\n").first { $0.hasPrefix("media.m3u8?sid=") })
        stand.feeds.holdAdmission(true)
        #expect(try isBusy(stand.exchange("/live/r/index.m3u8")))
        #expect(try stand.exchange("/live/r/index.m3u8", method: .head)?.status == 503)
        #expect(try stand.exchange("/live/r/" + media)?.status == 200)
        #expect(try stand.exchange("/live/r/\(program.run)/s1.m4s")?.status == 200)
        let sid = media.split(separator: "=")[1]
        #expect(try stand.exchange("/live/r/index.m3u8?sid=\(sid)")?.status == 200)
        #expect(stand.feeds.load.refused[.hls] == 2)
        stand.feeds.holdAdmission(false)
        #expect(try stand.exchange("/live/r/index.m3u8")?.status == 200)
    }

    @Test("HLS: those who watch by it count towards the most viewers; by whatever way the next one comes it is refused")
    func bounded() throws {
        let stand = try SiteStand()
        let program = stand.goOnAir("r")
        let limit = FanOutConfiguration().maximumViewers
        stand.audience.setRequesters(limit - 1)
        let index = try #require(try stand.exchange("/live/r/index.m3u8"))
        let media = try #require(index.text.split(separator: "\n").first { $0.hasPrefix("media.m3u8?sid=") })
        let sid = media.split(separator: "=")[1]
        stand.audience.setRequesters(limit)
        #expect(try isBusy(stand.exchange("/live/r/index.m3u8")))
        #expect(try isBusy(stand.exchange("/live/r/index.m3u8?sid=other-1")))
        #expect(try isBusy(stand.exchange("/live/r.flv")))
        #expect(try stand.exchange("/live/r/" + media)?.status == 200)
        #expect(try stand.exchange("/live/r/\(program.run)/s1.m4s")?.status == 200)
        #expect(try stand.exchange("/live/r/index.m3u8?sid=\(sid)")?.status == 200)
        #expect(stand.feeds.load.refused == [.rtmp: 0, .flv: 1, .hls: 2])
        stand.audience.setRequesters(limit - 1)
        #expect(try stand.exchange("/live/r/index.m3u8")?.status == 200)
    }

    @Test("HTTP-FLV: a newcomer is refused in the same way")
    func streams() throws {
        let stand = try SiteStand()
        stand.goOnAir("r")
        stand.feeds.holdAdmission(true)
        #expect(try isBusy(stand.exchange("/live/r.flv")))
        #expect(stand.feeds.load.refused == [.rtmp: 0, .flv: 1, .hls: 0])
        #expect(!stand.audience.story.contains { $0.hasPrefix("opened") })
    }
}
