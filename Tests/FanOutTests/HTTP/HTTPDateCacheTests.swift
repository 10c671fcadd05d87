@testable import FanOut
import FootlightTesting
import Foundation
import HTTPTypes
import NIOCore
import Synchronization
import Testing

@Suite("HTTP date cache")
struct HTTPDateCacheTests {
    /// The example of RFC 9110.
    private static let example = "Sun, 06 Nov 1994 08:49:37 GMT"

    @Test("formats dates as HTTP requires, in any year")
    func text() {
        #expect(HTTPDateCache.text(of: 784_111_777) == Self.example)
        #expect(HTTPDateCache.text(of: 0) == "Thu, 01 Jan 1970 00:00:00 GMT")
        #expect(HTTPDateCache.text(of: -1) == "Wed, 31 Dec 1969 23:59:59 GMT")
        let reader = DateFormatter()
        reader.locale = Locale(identifier: "en_US_POSIX")
        reader.timeZone = TimeZone(identifier: "UTC")
        reader.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        // Over 150 years, at all times of the day, including leap days.
        for second in stride(from: 0, to: 4_700_000_000, by: 9_876_543) {
            #expect(HTTPDateCache.text(of: second) == reader.string(from: Date(timeIntervalSince1970: Double(second))))
        }
        #expect(HTTPDateCache.text(of: 951_782_400).hasPrefix("Tue, 29 Feb 2000"))
        #expect(HTTPDateCache.text(of: 4_107_542_400).hasPrefix("Mon, 01 Mar 2100"))
    }

    @Test("formats the date once per second")
    func cached() {
        let second = Mutex(784_111_777)
        let dates = HTTPDateCache { second.withLock { $0 } }
        #expect(dates.text == Self.example && dates.text == Self.example)
        second.withLock { $0 += 1 }
        #expect(dates.text == "Sun, 06 Nov 1994 08:49:38 GMT")
    }

    @Test("playlists, media, errors, streams and consecutive files have a Date field")
    func answers() async throws {
        let fixture = try MediaServiceFixture()
        let run = fixture.goOnAir("r").run
        let refused = ["/live/r/\(run)/none.m4s", "/live/none.flv", "/live/none/index.m3u8"]
        for path in ["/live/r/index.m3u8", "/live/r/media.m3u8?sid=r-1", "/live/r/\(run)/s1.m4s"] + refused {
            #expect(try fixture.exchange(path)?.head.headerFields[.date] == Self.example, "\(path)")
        }
        #expect(try fixture.exchange("/live/r/index.m3u8", method: .options)?.head.headerFields[.date] == Self.example)
        let playlist = try #require(try fixture.exchange("/live/r/media.m3u8?sid=r-1")).text
        let files = playlist.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { "/live/r/\($0)" }
        let line = try RawHTTPConnection(to: fixture)
        for file in files.prefix(3) {
            let head = String(decoding: try line.ask(file).prefix(600), as: UTF8.self)
            #expect(head.contains("\r\nDate: \(Self.example)\r\n"), "\(head)")
        }
        try await withLoops { group in
            let fixture = try await HTTPFixture(group)
            fixture.feeds.open("r").receive(Packets.key(0))
            let client = try await fixture.connect()
            try await client.ask("/live/r.flv")
            #expect(try await eventually { client.answer != nil })
            let header = client.answer?.header ?? ""
            let date = header.firstMatch(of: /\r\nDate: \w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT\r\n/)
            #expect(date != nil, "\(header)")
        }
    }
}
