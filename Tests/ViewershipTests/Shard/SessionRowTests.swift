import Foundation
import Media
import Stage
import Testing

@testable import Viewership

@Suite("Media in session rows")
struct SessionRowTests {
    private func row(_ fixture: LedgerFixture) throws -> SessionRow {
        try #require(fixture.ledger.drainHistory().sessions.values.first)
    }

    private func fixture() -> LedgerFixture {
        let fixture = LedgerFixture()
        fixture.ledger.enableHistory()
        fixture.ledger.roomBegan(fixture.room, sid: "RM1")
        return fixture
    }

    @Test("the bytes of a connection are counted when it closes, and summed over reconnects")
    func connection() throws {
        let fixture = fixture()
        let sid = fixture.ledger.makeSession(room: fixture.room)
        fixture.watch(sid, from: 0, by: .rtmp)
        #expect(try row(fixture).bytes == 0)
        fixture.record(sid, .closed(.timedOut), at: 10, by: .rtmp, bytes: 3_000_000_000)
        #expect(try row(fixture).bytes == 3_000_000_000)
        fixture.record(sid, .opened, at: 12, by: .rtmp)
        fixture.record(sid, .closed(.left), at: 20, by: .rtmp, bytes: 2_000_000_000)
        #expect(try row(fixture).bytes == 5_000_000_000)
    }

    @Test("by HLS each response adds its bytes; media without a playlist qualifies no session")
    func requests() throws {
        let fixture = fixture()
        let sid = fixture.ledger.makeSession(room: fixture.room)
        fixture.record(sid, .delivered, at: 0, by: .hls, bytes: 50)
        for second in [1.0, 3, 5] {
            fixture.record(sid, .playlistServed, at: second, by: .hls, bytes: 400)
            fixture.record(sid, .delivered, at: second, by: .hls, bytes: 100_000)
        }
        fixture.record(sid, .delivered, at: 12, by: .hls, bytes: 1)
        fixture.advance(to: 60)
        let row = try row(fixture)
        // Bytes before the first playlist are not attributed; later media is no activity.
        #expect(row.bytes == 301_201 && row.watched == 5_000)
    }

    @Test("an access log line has the bytes of its response")
    func line() throws {
        let sid = String(repeating: "A", count: 32)
        #expect(AccessLogLine("<190>Nov 21 18:00:00 hls: \(sid) /live/show/720p.m3u8 200 512 0.003 HIT")?.bytes == 512)
        #expect(AccessLogLine("\(sid) /live/show/720p.m3u8 200")?.bytes == 0)
    }

    @Test("renditions are in order of first playback, across a kill too")
    func renditions() throws {
        let fixture = fixture()
        let sid = fixture.ledger.makeSession(room: fixture.room)
        for (number, rendition) in ["360p", "360p", "720p", "", "360p", "720p"].enumerated() {
            let second = 1 + Double(number) * 2
            fixture.advance(to: second)
            fixture.record(sid, .playlistServed, at: second, by: .hls, rendition: rendition, bytes: 10)
        }
        var history = InMemoryHistory()
        history.write(fixture.ledger.drainHistory())
        let row = try #require(history.sessions.values.first)
        #expect(row.renditions == ["360p", "720p", ""] && row.switches == 4 && row.dimensions.rendition == "720p")
        let after = LedgerFixture(clock: fixture.clock, start: fixture.start)
        after.ledger.enableHistory()
        after.ledger.restore(history.recovered)
        after.record(sid, .playlistServed, at: 13, by: .hls, rendition: "1080p", bytes: 10)
        let later = try #require(after.ledger.drainHistory().sessions.values.first)
        #expect(later.renditions == ["360p", "720p", "", "1080p"] && later.switches == 5 && later.bytes == 70)
    }

    @Test("a rendition list is created once, has at most eight entries, and the number of lists is limited")
    func renditionHistories() {
        var renditionHistories = RenditionHistories()
        let one = renditionHistories.extend(renditionHistories.extend(0, adding: "a"), adding: "b")
        #expect(renditionHistories.extend(renditionHistories.extend(0, adding: "a"), adding: "b") == one)
        #expect(renditionHistories.extend(one, adding: "a") == one && renditionHistories[one] == ["a", "b"])
        var renditionHistory = one
        for name in ["c", "d", "e", "f", "g", "h", "i", "j"] {
            renditionHistory = renditionHistories.extend(renditionHistory, adding: name)
        }
        #expect(renditionHistories[renditionHistory] == ["a", "b", "c", "d", "e", "f", "g", "h"])
        let numbers = (0..<6_000).map { renditionHistories.extend(0, adding: "\($0)") }
        #expect(Set(numbers).count < 4_096 && numbers.last == 0 && renditionHistories[numbers[7]] == ["7"])
    }
}

@Suite("Number limits")
struct HugeNumberTests {
    private let sid = String(repeating: "A", count: SessionID.textLength)

    @Test("the bytes of a session saturate at 1 TiB")
    func bytes() throws {
        let id = SessionID(head: 1, tail: 2, code: 3)
        var session = ViewerSession(id: id, cell: 0, at: 0)
        for count in [Int.max, .max, .min, -1, 1] { session.addBytes(count) }
        #expect(session.bytes == 1 << 40 - 1)
    }

    @Test("rejects a log line with more than 1 TiB or a negative size")
    func lines() {
        func line(_ bytes: String) -> AccessLogLine? {
            AccessLogLine("\(sid) /live/show/720p.m3u8 200 \(bytes) 0.003 HIT")
        }
        #expect(line("512")?.bytes == 512)
        #expect(line("1099511627776")?.bytes == 1 << 40)
        #expect(line("-")?.bytes == 0)
        #expect(line("99999999999999999999999")?.bytes == 0)
        for wrong in ["9223372036854775807", "1099511627777", "-1", "-9223372036854775808"] {
            #expect(line(wrong) == nil)
        }
    }

    @Test("counters of an earlier run that are negative or too large are not adopted")
    func counters() throws {
        func stored(_ count: Int) throws -> StartupHistogram {
            let counts = [Int](repeating: count, count: StartupHistogram.bounds.count + 1)
            return try JSONDecoder().decode(StartupHistogram.self, from: Data(#"{"counts":\#(counts),"sum":1}"#.utf8))
        }
        for wrong in [Int.max, -1] {
            var startups = StartupHistogram()
            startups.add(try stored(wrong))
            startups.insert(50)
            #expect(startups.counts.reduce(0, +) == 1)
        }
        var startups = StartupHistogram()
        startups.add(try stored(7))
        startups.insert(50)
        #expect(startups.counts.first == 8)
    }
}
