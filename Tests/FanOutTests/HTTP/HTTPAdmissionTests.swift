@testable import FanOut
import Foundation
import HTTPTypes
import Stage
import Testing

@Suite("Admission over HTTP at capacity")
struct HTTPAdmissionTests {
    private func isBusy(_ answer: MediaServiceFixture.Answer?) throws -> Bool {
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

    @Test("HLS: refuses a new viewer with 503, an error code and Retry-After; present viewers continue")
    func playlists() throws {
        let fixture = try MediaServiceFixture()
        let program = fixture.goOnAir("r")
        let index = try #require(try fixture.exchange("/live/r/index.m3u8"))
        let media = try #require(index.text.split(separator: "\n").first { $0.hasPrefix("media.m3u8?sid=") })
        fixture.feeds.setAdmissionSuspended(true)
        #expect(try isBusy(fixture.exchange("/live/r/index.m3u8")))
        #expect(try fixture.exchange("/live/r/index.m3u8", method: .head)?.status == 503)
        #expect(try fixture.exchange("/live/r/" + media)?.status == 200)
        #expect(try fixture.exchange("/live/r/\(program.run)/s1.m4s")?.status == 200)
        let sid = media.split(separator: "=")[1]
        #expect(try fixture.exchange("/live/r/index.m3u8?sid=\(sid)")?.status == 200)
        #expect(fixture.feeds.load.refused[.hls] == 2)
        fixture.feeds.setAdmissionSuspended(false)
        #expect(try fixture.exchange("/live/r/index.m3u8")?.status == 200)
    }

    @Test("HLS: viewers count towards the maximum, and the next viewer is refused over every protocol")
    func bounded() throws {
        let fixture = try MediaServiceFixture()
        let program = fixture.goOnAir("r")
        let limit = FanOutConfiguration().maximumViewers
        fixture.audience.setRequesters(limit - 1)
        let index = try #require(try fixture.exchange("/live/r/index.m3u8"))
        let media = try #require(index.text.split(separator: "\n").first { $0.hasPrefix("media.m3u8?sid=") })
        let sid = media.split(separator: "=")[1]
        fixture.audience.setRequesters(limit)
        #expect(try isBusy(fixture.exchange("/live/r/index.m3u8")))
        #expect(try isBusy(fixture.exchange("/live/r/index.m3u8?sid=other-1")))
        #expect(try isBusy(fixture.exchange("/live/r.flv")))
        #expect(try fixture.exchange("/live/r/" + media)?.status == 200)
        #expect(try fixture.exchange("/live/r/\(program.run)/s1.m4s")?.status == 200)
        #expect(try fixture.exchange("/live/r/index.m3u8?sid=\(sid)")?.status == 200)
        #expect(fixture.feeds.load.refused == [.rtmp: 0, .flv: 1, .hls: 2])
        fixture.audience.setRequesters(limit - 1)
        #expect(try fixture.exchange("/live/r/index.m3u8")?.status == 200)
    }

    @Test("HTTP-FLV: refuses a new viewer in the same way")
    func streams() throws {
        let fixture = try MediaServiceFixture()
        fixture.goOnAir("r")
        fixture.feeds.setAdmissionSuspended(true)
        #expect(try isBusy(fixture.exchange("/live/r.flv")))
        #expect(fixture.feeds.load.refused == [.rtmp: 0, .flv: 1, .hls: 0])
        #expect(!fixture.audience.eventLog.contains { $0.hasPrefix("opened") })
    }
}
