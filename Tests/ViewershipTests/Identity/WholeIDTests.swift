import Media
import Stage
import Testing

@testable import Viewership

@Suite("Session ids that are shown again")
struct WholeIDTests {
    @Test("an id that differs from a live one in any bit is refused, and the session goes on")
    func everyBit() throws {
        let stand = Stand()
        stand.ledger.roomBegan(stand.room, sid: "RM1")
        let sid = stand.ledger.makeSession(room: stand.room)
        stand.poll(sid, from: 0, to: 6)
        #expect(stand.ledger.admit(PlayerRequest(sid: sid), to: stand.room) == .viewer(sid: sid))
        let id = try #require(SessionID(sid))
        for bit in 0..<192 {
            let flipped = SessionID(
                head: id.head ^ (bit < 64 ? 1 << UInt64(bit) : 0),
                tail: id.tail ^ (64..<128 ~= bit ? 1 << UInt64(bit - 64) : 0),
                code: id.code ^ (bit >= 128 ? 1 << UInt64(bit - 128) : 0)
            ).text
            #expect(stand.ledger.admit(PlayerRequest(sid: flipped), to: stand.room) == .refused, "bit \(bit)")
            #expect(!stand.ledger.accepts(sid: flipped, room: stand.room), "bit \(bit)")
            #expect(!stand.ledger.mayReturn(sid: flipped, room: stand.room), "bit \(bit)")
        }
        let refused = stand.metric("footlight_beats_rejected_total", ["reason": "mac"]) ?? 0
        let malformed = stand.metric("footlight_beats_rejected_total", ["reason": "malformed"]) ?? 0
        #expect(refused + malformed == 2 * 192)
        #expect(stand.report.concurrent == 1 && stand.report.joins == 1 && stand.report.unfiltered == 1)
    }

    @Test("a line of a log with an id that is not whole is nobody's")
    func line() throws {
        let stand = Stand()
        stand.ledger.roomBegan(stand.room, sid: "RM1")
        let sid = stand.ledger.makeSession(room: stand.room)
        let id = try #require(SessionID(sid))
        let other = SessionID(head: id.head ^ 1 << 20, tail: id.tail, code: id.code).text
        for second in 0..<6 {
            stand.advance(to: Double(second))
            stand.ledger.take(try #require(BeatLine("\(other) /live/show/media.m3u8 200 500 0.001 HIT")))
        }
        #expect(stand.report.concurrent == 0 && stand.report.unfiltered == 0)
        #expect(stand.metric("footlight_beats_rejected_total", ["reason": "mac"]) == 6)
    }

    @Test("a line of the old rendition that comes after the first of the new one does not switch back")
    func lateLine() throws {
        let stand = Stand()
        stand.ledger.roomBegan(stand.room, sid: "RM1")
        let sid = stand.ledger.makeSession(room: stand.room)
        func take(_ rendition: String, took: String, at second: Double) throws {
            stand.advance(to: second)
            stand.ledger.take(try #require(BeatLine("\(sid) /live/show/\(rendition).m3u8 200 500 \(took) HIT ll")))
        }
        for second in stride(from: 0.0, through: 6, by: 1) { try take("720p", took: "0.900", at: second) }
        #expect(stand.report.byRendition == ["720p": 1])
        try take("360p", took: "0.010", at: 6.5)
        try take("720p", took: "0.900", at: 6.6)
        try take("360p", took: "0.900", at: 7.5)
        #expect(stand.report.switches == 1 && stand.report.byRendition == ["360p": 1])
        try take("720p", took: "0.100", at: 9)
        #expect(stand.report.switches == 2 && stand.report.byRendition == ["720p": 1])
    }
}
