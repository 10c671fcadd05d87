import Glibc
import Media
import NIOCore
import NIOEmbedded
import Testing

@testable import RTMP

@Suite("Direct write batch")
struct DirectWriteBatchTests {
    /// A socket pair within this process; the batch writes to the near end.
    private final class Pair {
        let near: CInt
        let far: CInt

        init() {
            var ends: [CInt] = [-1, -1]
            socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0, &ends)
            (near, far) = (ends[0], ends[1])
        }

        deinit {
            close(near)
            close(far)
        }

        /// Returns the bytes that have arrived.
        func read() -> [UInt8] {
            var bytes = [UInt8](repeating: 0, count: 1 << 20)
            let count = recv(far, &bytes, bytes.count, CInt(MSG_DONTWAIT))
            return Array(bytes.prefix(max(count, 0)))
        }
    }

    private let now = MonotonicTime(nanoseconds: 1_000)
    private let loop = EmbeddedEventLoop()

    private func makeBatch(of pairs: [Pair]) -> DirectWriteBatch {
        var batch = DirectWriteBatch(on: loop)
        for (index, pair) in pairs.enumerated() {
            batch.append()
            batch.open(index, socket: DirectSocket(descriptor: pair.near, eventLoop: loop), until: nil)
        }
        return batch
    }

    @Test("sends the bytes once to every open slot and stops at a closed one")
    func closed() {
        let pairs = (0..<4).map { _ in Pair() }
        var batch = makeBatch(of: pairs)
        batch.close(2)
        let bytes = ByteBuffer(bytes: [1, 2, 3])
        let stopped = batch.send(bytes, below: 4, now: now)
        #expect(stopped == DirectWriteBatch.Stop(index: 2, sent: 0))
        #expect(pairs.map { $0.read().count } == [0, 0, 0, 3])
        let through = batch.send(bytes, below: 2, now: now)
        #expect(through == nil)
        #expect(pairs.map { $0.read() } == [[1, 2, 3], [1, 2, 3], [], []])
    }

    @Test("stops at a slot whose end time has passed")
    func ends() {
        let pair = Pair()
        var batch = makeBatch(of: [pair])
        batch.open(0, socket: DirectSocket(descriptor: pair.near, eventLoop: loop), until: now)
        let before = MonotonicTime(nanoseconds: now.nanoseconds - 1)
        let early = batch.send(ByteBuffer(bytes: [1]), below: 1, now: before)
        #expect(early == nil)
        let late = batch.send(ByteBuffer(bytes: [2]), below: 1, now: now)
        #expect(late == DirectWriteBatch.Stop(index: 0, sent: 0))
        #expect(pair.read() == [1])
    }

    @Test("closes a slot whose socket is full, without losing or repeating bytes")
    func full() throws {
        let pairs = [Pair(), Pair()]
        var batch = makeBatch(of: pairs)
        let bytes = ByteBuffer(bytes: (0..<4_000_000).map { UInt8(truncatingIfNeeded: $0) })
        let first = batch.send(bytes, below: 2, now: now)
        let stop = try #require(first)
        #expect(stop.index == 1)
        #expect(stop.sent > 0)
        #expect(stop.sent < bytes.readableBytes)
        var received: [UInt8] = []
        while true {
            let more = pairs[1].read()
            if more.isEmpty { break }
            received += more
        }
        #expect(received == Array(bytes.readableBytesView.prefix(stop.sent)))
        let again = batch.send(bytes, below: 2, now: now)
        #expect(again == DirectWriteBatch.Stop(index: 1, sent: 0))
        #expect(pairs[0].read().isEmpty)
    }

    @Test("closes a slot whose peer is gone, without a signal")
    func broken() {
        let pair = Pair()
        var batch = makeBatch(of: [pair])
        shutdown(pair.near, CInt(SHUT_RDWR))
        let once = batch.send(ByteBuffer(bytes: [1]), below: 1, now: now)
        #expect(once == DirectWriteBatch.Stop(index: 0, sent: 0))
        let twice = batch.send(ByteBuffer(bytes: [1]), below: 1, now: now)
        #expect(twice == DirectWriteBatch.Stop(index: 0, sent: 0))
    }

    @Test("fills a removed slot with the last one, open or closed")
    func removal() {
        let pairs = (0..<3).map { _ in Pair() }
        var batch = makeBatch(of: pairs)
        batch.remove(at: 0)
        #expect(batch.count == 2)
        let through = batch.send(ByteBuffer(bytes: [5]), below: 9, now: now)
        #expect(through == nil)
        #expect(pairs.map { $0.read() } == [[], [5], [5]])
        batch.close(1)
        batch.remove(at: 0)
        let closed = batch.send(ByteBuffer(bytes: [6]), below: 1, now: now)
        #expect(closed == DirectWriteBatch.Stop(index: 0, sent: 0))
        batch.remove(at: 0)
        let empty = batch.send(ByteBuffer(bytes: [7]), below: 0, now: now)
        #expect(empty == nil)
    }
}
