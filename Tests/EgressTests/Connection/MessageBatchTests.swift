import NIOCore
import Testing

@testable import Egress

@Suite("Messages laid out for one write")
struct MessageBatchTests {
    private static func body(_ count: Int) -> ByteBuffer {
        ByteBuffer(bytes: (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) })
    }

    @Test("a short message is a full header and its body")
    func short() {
        var batch = MessageBatch()
        batch.append(
            type: 9,
            channel: 6,
            timestamp: 0x01_0203,
            stream: 1,
            prefix: [0xAA],
            body: ByteBuffer(bytes: [0xBB, 0xCC])
        )
        #expect(batch.bytes == [6, 1, 2, 3, 0, 0, 3, 9, 1, 0, 0, 0, 0xAA, 0xBB, 0xCC])
        batch.removeAll()
        #expect(batch.bytes.isEmpty)
        #expect(batch.count == 0)
    }

    @Test("a message that fills its chunk exactly has no further one")
    func exact() {
        var batch = MessageBatch()
        batch.append(type: 9, channel: 6, timestamp: 0, stream: 1, body: Self.body(MessageBatch.chunkSize))
        #expect(batch.bytes.count == 12 + MessageBatch.chunkSize)
        #expect(batch.count == batch.bytes.count)
    }

    @Test("long messages come back whole, one behind the other", arguments: [UInt32(5), 0xFF_FFFE, 0xFF_FFFF, .max])
    func long(timestamp: UInt32) throws {
        let (long, short) = (Self.body(2 * MessageBatch.chunkSize + 17), Self.body(99))
        var batch = MessageBatch()
        batch.append(type: 9, channel: 6, timestamp: timestamp, stream: 1, prefix: [1, 2], body: long)
        batch.append(type: 8, channel: 4, timestamp: timestamp, stream: 1, body: short)

        #expect(batch.count == batch.bytes.count)
        let isExtended = timestamp >= 0xFF_FFFF
        let extra = isExtended ? 4 : 0
        #expect(batch.bytes.count == 12 + extra + 2 + long.readableBytes + 2 * (1 + extra) + 12 + extra + 99)
        // Chunk by chunk: header, at most a chunk of body, the same again.
        var rest = batch.bytes[...]
        var bodies: [UInt8: [UInt8]] = [:]
        var lengths: [UInt8: Int] = [:]
        while let first = rest.popFirst() {
            let channel = first & 0x3F
            if first >> 6 == 0 {
                let field = rest.prefix(3).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
                #expect(field == min(timestamp, 0xFF_FFFF))
                lengths[channel] = rest.dropFirst(3).prefix(3).reduce(0) { $0 << 8 | Int($1) }
                rest = rest.dropFirst(11)
            } else {
                #expect(first >> 6 == 3)
            }
            if isExtended {
                #expect(rest.prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) } == timestamp)
                rest = rest.dropFirst(4)
            }
            let missing = try #require(lengths[channel]) - (bodies[channel]?.count ?? 0)
            let size = min(missing, MessageBatch.chunkSize)
            bodies[channel, default: []] += rest.prefix(size)
            rest = rest.dropFirst(size)
        }
        #expect(bodies[6] == [1, 2] + Array(buffer: long))
        #expect(bodies[4] == Array(buffer: short))
    }
}
