import Foundation
import Glibc
import Media
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

@Suite("A batch on its way into a socket")
struct SendAllTests {
    /// Reads a socket on a thread of its own until its peer closes it.
    private static func collect(from socket: Int32) -> Latch<[UInt8]?> {
        let collected = Latch<[UInt8]?>(nil)
        Thread.detachNewThread {
            var all: [UInt8] = []
            var bytes = [UInt8](repeating: 0, count: 1 << 16)
            while true {
                let count = recv(socket, &bytes, bytes.count, 0)
                guard count > 0 else { break }
                all += bytes.prefix(count)
            }
            close(socket)
            let result = all
            collected.update { $0 = result }
        }
        return collected
    }

    @Test("everything arrives, in order, in as many calls as it takes", arguments: [1, 3, 700, 2_000])
    func complete(messages: Int) throws {
        var batch = MessageBatch()
        for number in 0..<messages {
            let body = ByteBuffer(repeating: UInt8(truncatingIfNeeded: number), count: number % 3 == 0 ? 5_000 : 5)
            batch.append(type: 9, channel: 6, timestamp: UInt32(number), stream: 1, prefix: [1], body: body)
        }
        batch.append(type: 9, channel: 6, timestamp: 9, stream: 1, body: ByteBuffer(repeating: 7, count: 300_000))
        #expect(batch.bytes.count == batch.count)
        var ends: [Int32] = [-1, -1]
        socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends)
        let collected = Self.collect(from: ends[1])
        #expect(sendAll(batch, on: ends[0]))
        close(ends[0])
        let received = collected.wait(until: .now().advanced(seconds: 20)) { $0 }
        #expect(received == batch.bytes)
    }

    @Test("a connection that is gone is told, without a signal")
    func broken() {
        var batch = MessageBatch()
        batch.append(type: 8, channel: 4, timestamp: 0, stream: 1, body: ByteBuffer(bytes: [1]))
        var ends: [Int32] = [-1, -1]
        socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends)
        close(ends[1])
        #expect(!sendAll(batch, on: ends[0]))
        close(ends[0])
    }
}
