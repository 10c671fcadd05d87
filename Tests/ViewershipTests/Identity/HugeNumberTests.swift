import Foundation
import Media
import Stage
import Testing

@testable import Viewership

@Suite("Numbers that nobody can have counted")
struct HugeNumberTests {
    private let sid = String(repeating: "A", count: SessionID.textLength)

    @Test("bytes of a session stay at a tebibyte, whatever is added how often")
    func bytes() throws {
        let id = SessionID(head: 1, tail: 2, code: 3)
        var session = ViewerSession(id: id, cell: 0, at: 0)
        for count in [Int.max, .max, .min, -1, 1] { session.noteBytes(count) }
        #expect(session.bytes == 1 << 40 - 1)
    }

    @Test("a line of a log with more bytes than a tebibyte, or fewer than none, is no line of a log")
    func lines() {
        func line(_ bytes: String) -> BeatLine? { BeatLine("\(sid) /live/show/720p.m3u8 200 \(bytes) 0.003 HIT") }
        #expect(line("512")?.bytes == 512)
        #expect(line("1099511627776")?.bytes == 1 << 40)
        #expect(line("-")?.bytes == 0)
        #expect(line("99999999999999999999999")?.bytes == 0)
        for wrong in ["9223372036854775807", "1099511627777", "-1", "-9223372036854775808"] {
            #expect(line(wrong) == nil)
        }
    }

    @Test("an earlier run's counters are not taken over where they leave no room to count on")
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
