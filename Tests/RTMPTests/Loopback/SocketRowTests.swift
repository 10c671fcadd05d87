import Glibc
import Media
import NIOCore
import Testing

@testable import RTMP

@Suite("The sockets of a crowd in a row")
struct SocketRowTests {
    /// Two ends of one connection within this process, the near one for the row.
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

        /// What has arrived.
        func read() -> [UInt8] {
            var bytes = [UInt8](repeating: 0, count: 1 << 20)
            let count = recv(far, &bytes, bytes.count, CInt(MSG_DONTWAIT))
            return Array(bytes.prefix(max(count, 0)))
        }
    }

    private let now = MonotonicTime(nanoseconds: 1_000)

    private func row(of pairs: [Pair]) -> SocketRow {
        var row = SocketRow()
        for (index, pair) in pairs.enumerated() {
            row.append()
            row.open(index, socket: pair.near, until: nil)
        }
        return row
    }

    @Test("every open place gets the bytes once, and a closed one is its caller's")
    func closed() {
        let pairs = (0..<4).map { _ in Pair() }
        var row = row(of: pairs)
        row.close(2)
        let bytes = ByteBuffer(bytes: [1, 2, 3])
        #expect(row.send(bytes, below: 4, now: now) == SocketRow.Stop(index: 2, sent: 0))
        #expect(pairs.map { $0.read().count } == [0, 0, 0, 3])
        #expect(row.send(bytes, below: 2, now: now) == nil)
        #expect(pairs.map { $0.read() } == [[1, 2, 3], [1, 2, 3], [], []])
    }

    @Test("a place that is open for a while is passed over from then on")
    func ends() {
        let pair = Pair()
        var row = row(of: [pair])
        row.open(0, socket: pair.near, until: now)
        let before = MonotonicTime(nanoseconds: now.nanoseconds - 1)
        #expect(row.send(ByteBuffer(bytes: [1]), below: 1, now: before) == nil)
        #expect(row.send(ByteBuffer(bytes: [2]), below: 1, now: now) == SocketRow.Stop(index: 0, sent: 0))
        #expect(pair.read() == [1])
    }

    @Test("a socket that does not take everything closes its place, and nothing is lost or sent twice")
    func full() throws {
        let pairs = [Pair(), Pair()]
        var row = row(of: pairs)
        let bytes = ByteBuffer(bytes: (0..<4_000_000).map { UInt8(truncatingIfNeeded: $0) })
        let stop = try #require(row.send(bytes, below: 2, now: now))
        #expect(stop.index == 1)
        #expect(stop.sent > 0)
        #expect(stop.sent < bytes.readableBytes)
        var taken: [UInt8] = []
        while true {
            let more = pairs[1].read()
            if more.isEmpty { break }
            taken += more
        }
        #expect(taken == Array(bytes.readableBytesView.prefix(stop.sent)))
        #expect(row.send(bytes, below: 2, now: now) == SocketRow.Stop(index: 1, sent: 0))
        #expect(pairs[0].read().isEmpty)
    }

    @Test("a socket whose peer is gone closes its place, without a signal")
    func broken() {
        let pair = Pair()
        var row = row(of: [pair])
        shutdown(pair.near, CInt(SHUT_RDWR))
        #expect(row.send(ByteBuffer(bytes: [1]), below: 1, now: now) == SocketRow.Stop(index: 0, sent: 0))
        #expect(row.send(ByteBuffer(bytes: [1]), below: 1, now: now) == SocketRow.Stop(index: 0, sent: 0))
    }

    @Test("a place that is taken away is filled by the last one, open or closed as that was")
    func removal() {
        let pairs = (0..<3).map { _ in Pair() }
        var row = row(of: pairs)
        row.remove(at: 0)
        #expect(row.count == 2)
        #expect(row.send(ByteBuffer(bytes: [5]), below: 9, now: now) == nil)
        #expect(pairs.map { $0.read() } == [[], [5], [5]])
        row.close(1)
        row.remove(at: 0)
        #expect(row.send(ByteBuffer(bytes: [6]), below: 1, now: now) == SocketRow.Stop(index: 0, sent: 0))
        row.remove(at: 0)
        #expect(row.send(ByteBuffer(bytes: [7]), below: 0, now: now) == nil)
    }
}
