import Foundation
import Media
import Stage
import Testing

@testable import Viewership

@Suite("Session ids")
struct SessionIDTests {
    private let keys = LedgerFixture.keys

    private func makeID(_ keys: SessionKeys? = nil, room: String = "show", shard: UInt8 = 7) -> SessionID {
        (keys ?? self.keys).makeID(room: room, shard: shard, issuedAt: 1_800_000_001, nonce: 0x0123_4567_89AB)
    }

    @Test("the text form is 32 characters of base64url over the 24 bytes in order")
    func layout() throws {
        let id = makeID()
        #expect(id.text.utf8.count == 32)
        let standard = id.text.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
        let bytes = try #require(Data(base64Encoded: standard)).map { $0 }
        #expect(bytes.count == 24)
        #expect(bytes[0] == 1)
        #expect(bytes[1] == 7)
        #expect(Array(bytes[2..<6]) == [0x6B, 0x49, 0xD2, 0x01])
        let hash = SessionID.stableHash("show")
        #expect(Array(bytes[6..<10]) == (0..<4).map { UInt8(truncatingIfNeeded: hash >> (24 - 8 * $0)) })
        #expect(Array(bytes[10..<16]) == [0x01, 0x23, 0x45, 0x67, 0x89, 0xAB])
        #expect(Array(bytes[16..<24]) == (0..<8).map { UInt8(truncatingIfNeeded: id.code >> (56 - 8 * $0)) })
    }

    @Test("an id is parsed field by field as it was written")
    func roundTrip() throws {
        var nonce: UInt64 = 0
        for shard in UInt8(0)..<16 {
            nonce = nonce &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let id = keys.makeID(room: "room-\(shard)", shard: shard, issuedAt: .max - UInt32(shard), nonce: nonce)
            let read = try #require(SessionID(id.text))
            #expect(read == id)
            #expect(read.shard == Int(shard))
            #expect(read.version == 1)
            #expect(read.issuedAt == .max - UInt32(shard))
            #expect(read.roomHash == SessionID.stableHash("room-\(shard)"))
            #expect(keys.verify(read, room: "room-\(shard)"))
        }
    }

    @Test(
        "rejects a text of another length or alphabet",
        arguments: [
            "", "A", String(repeating: "A", count: 31), String(repeating: "A", count: 33),
            String(repeating: "A", count: 31) + "=", String(repeating: "A", count: 31) + "+",
            String(repeating: "A", count: 30) + "é",
        ]
    )
    func malformed(text: String) {
        #expect(SessionID(text) == nil)
    }

    @Test("an id carries its exclusion under the signature")
    func exclusion() throws {
        for exclusion in [ExclusionReason.role, .agent] {
            let id = keys.makeID(room: "show", shard: 11, exclusion: exclusion, issuedAt: 1, nonce: 2)
            let read = try #require(SessionID(id.text))
            #expect(read.exclusion == exclusion && read.shard == 11 && keys.verify(read, room: "show"))
            for bit in [UInt64(1) << 55, 1 << 54] {
                #expect(!keys.verify(SessionID(head: id.head ^ bit, tail: id.tail, code: id.code), room: "show"))
            }
        }
        #expect(makeID().exclusion == nil)
    }

    @Test("any flipped bit, or another room, fails verification")
    func forgery() throws {
        let id = makeID()
        #expect(keys.verify(id, room: "show"))
        #expect(!keys.verify(id, room: "Show"))
        #expect(!keys.verify(id, room: ""))
        for bit in 0..<64 {
            let mask: UInt64 = 1 << bit
            #expect(!keys.verify(SessionID(head: id.head ^ mask, tail: id.tail, code: id.code), room: "show"))
            #expect(!keys.verify(SessionID(head: id.head, tail: id.tail ^ mask, code: id.code), room: "show"))
            #expect(!keys.verify(SessionID(head: id.head, tail: id.tail, code: id.code ^ mask), room: "show"))
        }
    }

    @Test("the code is the first eight bytes of HMAC-SHA256 over 16 bytes and the room's name")
    func code() {
        // Computed with another implementation for key 0x01...0x20.
        let id = SessionID(
            version: 1,
            shard: 7,
            issuedAt: 1_800_000_001,
            roomHash: 0xDEAD_BEEF,
            nonce: 0x0123_4567_89AB
        )
        let key = SessionKey(version: 1, secret: Array(1...32))
        #expect(key.code(head: id.head, tail: id.tail, room: "show") == 0x1BA1_B3ED_F571_C6BC)
    }

    @Test("during a rotation both keys verify; after the next one the oldest does not")
    func rotation() {
        let old = makeID()
        let second = SessionKeys(current: .random(version: 2), previous: keys.current)
        #expect(second.verify(old, room: "show"))
        let new = makeID(second)
        #expect(new.version == 2)
        #expect(second.verify(new, room: "show"))
        #expect(!keys.verify(new, room: "show"))

        let third = SessionKeys(current: .random(version: 3), previous: second.current)
        #expect(third.verify(new, room: "show"))
        #expect(!third.verify(old, room: "show"))
    }

    @Test("a key of the same version with another secret verifies nothing")
    func sameVersionOtherSecret() {
        let other = SessionKeys(current: .random(version: 1))
        #expect(!other.verify(makeID(), room: "show"))
    }

    @Test("ids of one ledger are distinct, spread over the shards, and accepted for their room only")
    func minted() {
        let fixture = LedgerFixture()
        let sids = (0..<1600).map { _ in fixture.ledger.makeSession(room: "show") }
        #expect(Set(sids).count == sids.count)
        let shards = Dictionary(grouping: sids.compactMap { SessionID($0)?.shard }, by: \.self).mapValues(\.count)
        #expect(shards.count == 16)
        #expect(shards.values.allSatisfy { $0 > 40 })
        #expect(sids.allSatisfy { fixture.ledger.accepts(sid: $0, room: "show") })
        #expect(!fixture.ledger.accepts(sid: sids[0], room: "other"))
        #expect(fixture.metric("footlight_beats_rejected_total", ["reason": "mac"]) == 1)
    }

    @Test("viewers stay across a rotation of the ledger's key")
    func ledgerRotation() {
        let fixture = LedgerFixture()
        let sid = fixture.ledger.makeSession(room: "show")
        let second = SessionKeys(current: .random(version: 2), previous: keys.current)
        fixture.ledger.use(second)
        #expect(fixture.ledger.accepts(sid: sid, room: "show"))
        fixture.ledger.use(SessionKeys(current: .random(version: 3), previous: second.current))
        #expect(!fixture.ledger.accepts(sid: sid, room: "show"))
    }
}

@Suite("Verification of presented session ids")
struct SessionIDVerificationTests {
    @Test("refuses an id that differs from a live one in any bit, and keeps the session")
    func everyBit() throws {
        let fixture = LedgerFixture()
        fixture.ledger.roomBegan(fixture.room, sid: "RM1")
        let sid = fixture.ledger.makeSession(room: fixture.room)
        fixture.poll(sid, from: 0, to: 6)
        #expect(fixture.ledger.admit(PlayerRequest(sid: sid), to: fixture.room) == .viewer(sid: sid))
        let id = try #require(SessionID(sid))
        for bit in 0..<192 {
            let flipped = SessionID(
                head: id.head ^ (bit < 64 ? 1 << UInt64(bit) : 0),
                tail: id.tail ^ (64..<128 ~= bit ? 1 << UInt64(bit - 64) : 0),
                code: id.code ^ (bit >= 128 ? 1 << UInt64(bit - 128) : 0)
            ).text
            #expect(fixture.ledger.admit(PlayerRequest(sid: flipped), to: fixture.room) == .refused, "bit \(bit)")
            #expect(!fixture.ledger.accepts(sid: flipped, room: fixture.room), "bit \(bit)")
            #expect(!fixture.ledger.mayReturn(sid: flipped, room: fixture.room), "bit \(bit)")
        }
        let refused = fixture.metric("footlight_beats_rejected_total", ["reason": "mac"]) ?? 0
        let malformed = fixture.metric("footlight_beats_rejected_total", ["reason": "malformed"]) ?? 0
        #expect(refused + malformed == 2 * 192)
        #expect(fixture.report.concurrent == 1 && fixture.report.joins == 1 && fixture.report.unfiltered == 1)
    }

    @Test("a log line with an altered id counts no viewer")
    func line() throws {
        let fixture = LedgerFixture()
        fixture.ledger.roomBegan(fixture.room, sid: "RM1")
        let sid = fixture.ledger.makeSession(room: fixture.room)
        let id = try #require(SessionID(sid))
        let other = SessionID(head: id.head ^ 1 << 20, tail: id.tail, code: id.code).text
        for second in 0..<6 {
            fixture.advance(to: Double(second))
            fixture.ledger.receive(try #require(AccessLogLine("\(other) /live/show/media.m3u8 200 500 0.001 HIT")))
        }
        #expect(fixture.report.concurrent == 0 && fixture.report.unfiltered == 0)
        #expect(fixture.metric("footlight_beats_rejected_total", ["reason": "mac"]) == 6)
    }

    @Test("a delayed line of the old rendition does not undo a switch")
    func lateLine() throws {
        let fixture = LedgerFixture()
        fixture.ledger.roomBegan(fixture.room, sid: "RM1")
        let sid = fixture.ledger.makeSession(room: fixture.room)
        func deliver(_ rendition: String, took: String, at second: Double) throws {
            fixture.advance(to: second)
            fixture.ledger.receive(
                try #require(AccessLogLine("\(sid) /live/show/\(rendition).m3u8 200 500 \(took) HIT ll"))
            )
        }
        for second in stride(from: 0.0, through: 6, by: 1) { try deliver("720p", took: "0.900", at: second) }
        #expect(fixture.report.byRendition == ["720p": 1])
        try deliver("360p", took: "0.010", at: 6.5)
        try deliver("720p", took: "0.900", at: 6.6)
        try deliver("360p", took: "0.900", at: 7.5)
        #expect(fixture.report.counts.switches == 1 && fixture.report.byRendition == ["360p": 1])
        try deliver("720p", took: "0.100", at: 9)
        #expect(fixture.report.counts.switches == 2 && fixture.report.byRendition == ["720p": 1])
    }
}
