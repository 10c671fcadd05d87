import Foundation
import Glibc
import Media
import NIOCore
import Testing

@testable import Egress

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
