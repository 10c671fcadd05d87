import NIOCore
import TestSupport
import Testing

@testable import RTMP

@Suite("AMF0 values")
struct AMF0Tests {
    private func decode(_ bytes: [UInt8], limits: RTMPLimits = RTMPLimits()) throws -> [AMF0Value] {
        var decoder = AMF0Decoder(ByteBuffer(bytes: bytes), limits: limits)
        return try decoder.all()
    }

    @Test("encodes and decodes every value type")
    func roundTrip() throws {
        let values: [AMF0Value] = [
            1.5, -3, .boolean(true), .boolean(false), "", "häuser", .null, .undefined, .date(1_700_000_000_000),
            .object(["a": 1, "b": .object(["c": "d"])]),
            .array(["width": 1280, "nested": .list([1, "two", .null])]),
            .list([]),
        ]
        var bytes = ByteBuffer()
        bytes.writeAMF0(values)
        var decoder = AMF0Decoder(bytes, limits: RTMPLimits())
        #expect(try decoder.all() == values)
    }

    @Test("decodes long strings, XML, typed objects, references and unsupported values")
    func rareTypes() throws {
        #expect(try decode([12, 0, 0, 0, 2, 104, 105]) == ["hi"])
        #expect(try decode([15, 0, 0, 0, 2, 104, 105]) == ["hi"])
        #expect(try decode([16, 0, 1, 88, 0, 1, 97, 5, 0, 0, 9]) == [.object(["a": .null])])
        #expect(try decode([7, 0, 1, 13, 6]) == [.undefined, .undefined, .undefined])
    }

    @Test("accepts an associative array without an end marker and ignores its count")
    func withoutEndMarker() throws {
        #expect(try decode([8, 0xFF, 0xFF, 0xFF, 0xFF, 0, 1, 97, 1, 1]) == [.array(["a": .boolean(true)])])
        #expect(try decode([8, 0, 0, 0, 0, 0, 1, 97, 1, 1, 0, 0, 9, 5]) == [.array(["a": .boolean(true)]), .null])
    }

    @Test("rejects truncated, too deeply nested, too many and too long values")
    func limits() throws {
        #expect(throws: AMF0Error.truncated) { try decode([0, 1, 2]) }
        #expect(throws: AMF0Error.truncated) { try decode([2, 0, 9, 97]) }
        #expect(throws: AMF0Error.unknownMarker(17)) { try decode([17, 1]) }
        #expect(throws: AMF0Error.unknownMarker(9)) { try decode([9]) }
        let nest: [UInt8] = [3, 0, 1, 97]
        #expect(throws: AMF0Error.tooDeep) { try decode(Array(repeatElement(nest, count: 1000).joined())) }
        #expect(throws: AMF0Error.tooManyValues) { try decode([10, 0xFF, 0xFF, 0xFF, 0xFF]) }
        #expect(throws: AMF0Error.tooManyValues) { try decode(Array(repeating: 5, count: 1025)) }
        #expect(throws: AMF0Error.stringTooLong) { try decode([12, 0, 0, 0x10, 1]) }
    }

    @Test("decodes random bytes within the value limit", arguments: 0..<60)
    func randomBytes(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let markers: [UInt8] = [0, 1, 2, 3, 5, 8, 9, 10, 11, 12]
        let bytes = (0..<2000).map { _ in
            Bool.random(using: &random)
                ? markers.randomElement(using: &random) ?? 0 : UInt8.random(in: 0...4, using: &random)
        }
        let values = (try? decode(bytes)) ?? []
        #expect(values.count <= RTMPLimits().amfNodes)
    }
}
