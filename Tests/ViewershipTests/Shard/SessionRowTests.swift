import Stage
import Testing

@testable import Viewership

@Suite("What a session's row says of its media")
struct SessionRowTests {
    private func row(_ stand: Stand) throws -> SessionRow {
        try #require(stand.ledger.takeHistory().sessions.values.first)
    }

    private func stand() -> Stand {
        let stand = Stand()
        stand.ledger.keepHistory()
        stand.ledger.roomBegan(stand.room, sid: "RM1")
        return stand
    }

    @Test("the bytes of a connection are told when it closes, and added up over its returns")
    func connection() throws {
        let stand = stand()
        let sid = stand.ledger.makeSession(room: stand.room)
        stand.watch(sid, from: 0, by: .rtmp)
        #expect(try row(stand).bytes == 0)
        stand.record(sid, .closed(.timedOut), at: 10, by: .rtmp, bytes: 3_000_000_000)
        #expect(try row(stand).bytes == 3_000_000_000)
        stand.record(sid, .opened, at: 12, by: .rtmp)
        stand.record(sid, .closed(.left), at: 20, by: .rtmp, bytes: 2_000_000_000)
        #expect(try row(stand).bytes == 5_000_000_000)
    }

    @Test("by requests each answer adds its own, media without a playlist as well, which proves nothing")
    func requests() throws {
        let stand = stand()
        let sid = stand.ledger.makeSession(room: stand.room)
        stand.record(sid, .delivered, at: 0, by: .hls, bytes: 50)
        for second in [1.0, 3, 5] {
            stand.record(sid, .playlistServed, at: second, by: .hls, bytes: 400)
            stand.record(sid, .delivered, at: second, by: .hls, bytes: 100_000)
        }
        stand.record(sid, .delivered, at: 12, by: .hls, bytes: 1)
        stand.advance(to: 60)
        let row = try row(stand)
        // What came before it was known is nobody's; what came after its last playlist is no sign of life.
        #expect(row.bytes == 301_201 && row.watched == 5_000)
    }

    @Test("a line of an access log tells the bytes of its answer")
    func line() throws {
        let sid = String(repeating: "A", count: 32)
        #expect(BeatLine("<190>Nov 21 18:00:00 hls: \(sid) /live/show/720p.m3u8 200 512 0.003 HIT")?.bytes == 512)
        #expect(BeatLine("\(sid) /live/show/720p.m3u8 200")?.bytes == 0)
    }

    @Test("renditions in the order in which they were first played, and after a kill too")
    func renditions() throws {
        let stand = stand()
        let sid = stand.ledger.makeSession(room: stand.room)
        for (number, rendition) in ["360p", "360p", "720p", "", "360p", "720p"].enumerated() {
            let second = 1 + Double(number) * 2
            stand.advance(to: second)
            stand.record(sid, .playlistServed, at: second, by: .hls, rendition: rendition, bytes: 10)
        }
        var history = MemoryHistory()
        history.write(stand.ledger.takeHistory())
        let row = try #require(history.sessions.values.first)
        #expect(row.renditions == ["360p", "720p", ""] && row.switches == 4 && row.dimensions.rendition == "720p")
        let after = Stand(clock: stand.clock, start: stand.start)
        after.ledger.keepHistory()
        after.ledger.restore(history.recovered)
        after.record(sid, .playlistServed, at: 13, by: .hls, rendition: "1080p", bytes: 10)
        let later = try #require(after.ledger.takeHistory().sessions.values.first)
        #expect(later.renditions == ["360p", "720p", "", "1080p"] && later.switches == 5 && later.bytes == 70)
    }

    @Test("a list is made once, ends at eight, and there is an end to lists")
    func trails() {
        var trails = RenditionTrails()
        let one = trails.trail(trails.trail(0, adding: "a"), adding: "b")
        #expect(trails.trail(trails.trail(0, adding: "a"), adding: "b") == one)
        #expect(trails.trail(one, adding: "a") == one && trails[one] == ["a", "b"])
        var trail = one
        for name in ["c", "d", "e", "f", "g", "h", "i", "j"] { trail = trails.trail(trail, adding: name) }
        #expect(trails[trail] == ["a", "b", "c", "d", "e", "f", "g", "h"])
        let numbers = (0..<6_000).map { trails.trail(0, adding: "\($0)") }
        #expect(Set(numbers).count < 4_096 && numbers.last == 0 && trails[numbers[7]] == ["7"])
    }
}
