import FootlightTesting
import Media
import Stage
import TestSupport
import Testing

@testable import Viewership

@Suite("Region database")
struct RegionDatabaseTests {
    /// Makes a file with 10.0.0.0/8 in Germany and 192.0.0.0/8 in California.
    private static func file(recordSize: Int) -> [UInt8] {
        let germany = map([("country", map([("iso_code", text("DE"))]))])
        let california = map([
            ("country", map([("iso_code", text("US"))])),
            ("subdivisions", [0x01, 0x04] + map([("iso_code", text("CA"))])),
        ])
        let data = germany + california
        // 96 nodes lead to IPv4; then one path of eight bits per network.
        var nodes: [(Int, Int)] = []
        let count = 96 + 1 + 7 + 7
        func leaf(_ offset: Int) -> Int { count + 16 + offset }
        for node in 0..<96 { nodes.append((node + 1, count)) }
        func path(_ byte: UInt8, from first: Int, to target: Int) -> [(Int, Int)] {
            (0..<7).map { step in
                let next = step == 6 ? target : first + step + 1
                return byte >> UInt8(6 - step) & 1 == 1 ? (count, next) : (next, count)
            }
        }
        nodes.append((97, 104))
        nodes += path(10, from: 97, to: leaf(0))
        nodes += path(192, from: 104, to: leaf(germany.count))
        let tree = nodes.flatMap { left, right in write(left, right, recordSize) }
        let metadata = map([
            ("node_count", [0xC2, UInt8(count >> 8), UInt8(count & 255)]),
            ("record_size", [0xA1, UInt8(recordSize)]),
            ("ip_version", [0xA1, 6]),
        ])
        var file = tree
        file += [UInt8](repeating: 0, count: 16)
        file += data
        file += [0xAB, 0xCD, 0xEF]
        file += Array("MaxMind.com".utf8)
        return file + metadata
    }

    private static func text(_ text: String) -> [UInt8] { [0x40 | UInt8(text.utf8.count)] + Array(text.utf8) }

    private static func map(_ entries: [(String, [UInt8])]) -> [UInt8] {
        [0xE0 | UInt8(entries.count)] + entries.flatMap { text($0.0) + $0.1 }
    }

    private static func write(_ left: Int, _ right: Int, _ size: Int) -> [UInt8] {
        func bytes(_ value: Int, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(value >> (8 * (count - 1 - $0)) & 255) }
        }
        switch size {
        case 24: return bytes(left, 3) + bytes(right, 3)
        case 28: return bytes(left, 3) + [UInt8((left >> 24) << 4 | (right >> 24))] + bytes(right, 3)
        default: return bytes(left, 4) + bytes(right, 4)
        }
    }

    @Test("finds countries and subdivisions of IPv4 and IPv6 addresses, for each record size", arguments: [24, 28, 32])
    func regions(recordSize: Int) throws {
        let database = try RegionDatabase(bytes: Self.file(recordSize: recordSize))
        #expect(database.region(of: "10.1.2.3") == "DE")
        #expect(database.region(of: "192.168.0.1") == "US-CA")
        #expect(database.region(of: "::ffff:10.1.2.3") == "DE")
        for other in ["11.0.0.1", "2001:db8::1", "not an address", ""] {
            #expect(database.region(of: other) == "", "\(other)")
        }
    }

    @Test("rejects missing, malformed and truncated files, or finds nothing in them")
    func damaged() throws {
        #expect(throws: RegionDatabase.Fault.notThere) { try RegionDatabase(path: "/nowhere.mmdb") }
        #expect(throws: RegionDatabase.Fault.malformed) { try RegionDatabase(bytes: []) }
        let whole = Self.file(recordSize: 24)
        var random = SeededGenerator(seed: 3)
        for _ in 0..<2000 {
            var bytes = whole
            for _ in 0..<4 {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            if Bool.random(using: &random) { bytes.removeFirst(Int.random(in: 0..<300, using: &random)) }
            let database = try? RegionDatabase(bytes: bytes)
            #expect((database?.region(of: "10.1.2.3").utf8.count ?? 0) <= 6)
        }
    }

    @Test("a viewer has the region of its address, unless a trusted proxy gives another one")
    func admitted() throws {
        let fixture = LedgerFixture()
        fixture.ledger.useRegions(try RegionDatabase(bytes: Self.file(recordSize: 24)))
        let players: [(String, String?)] = [
            ("10.0.0.1", nil), ("192.0.0.1", nil), ("10.0.0.1", "FR"), ("1.1.1.1", nil),
        ]
        for (address, region) in players {
            var request = PlayerRequest(address: address)
            request.region = region
            guard case .viewer(let sid) = fixture.ledger.admit(request, to: fixture.room) else {
                Issue.record("the player was refused")
                continue
            }
            let now = fixture.clock.now.seconds(since: fixture.start)
            for second in [now, now + 2, now + 4] { fixture.record(sid, .playlistServed, at: second, by: .hls) }
        }
        #expect(fixture.report.byRegion == ["DE": 1, "US-CA": 1, "FR": 1, "": 1])
    }
}
