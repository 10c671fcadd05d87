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

    private func makeRow(of pairs: [Pair]) -> SocketRow {
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
        var row = makeRow(of: pairs)
        row.close(2)
        let bytes = ByteBuffer(bytes: [1, 2, 3])
        let stopped = row.send(bytes, below: 4, now: now)
        #expect(stopped == SocketRow.Stop(index: 2, sent: 0))
        #expect(pairs.map { $0.read().count } == [0, 0, 0, 3])
        let through = row.send(bytes, below: 2, now: now)
        #expect(through == nil)
        #expect(pairs.map { $0.read() } == [[1, 2, 3], [1, 2, 3], [], []])
    }

    @Test("a place that is open for a while is passed over from then on")
    func ends() {
        let pair = Pair()
        var row = makeRow(of: [pair])
        row.open(0, socket: pair.near, until: now)
        let before = MonotonicTime(nanoseconds: now.nanoseconds - 1)
        let early = row.send(ByteBuffer(bytes: [1]), below: 1, now: before)
        #expect(early == nil)
        let late = row.send(ByteBuffer(bytes: [2]), below: 1, now: now)
        #expect(late == SocketRow.Stop(index: 0, sent: 0))
        #expect(pair.read() == [1])
    }

    @Test("a socket that does not take everything closes its place, and nothing is lost or sent twice")
    func full() throws {
        let pairs = [Pair(), Pair()]
        var row = makeRow(of: pairs)
        let bytes = ByteBuffer(bytes: (0..<4_000_000).map { UInt8(truncatingIfNeeded: $0) })
        let first = row.send(bytes, below: 2, now: now)
        let stop = try #require(first)
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
        let again = row.send(bytes, below: 2, now: now)
        #expect(again == SocketRow.Stop(index: 1, sent: 0))
        #expect(pairs[0].read().isEmpty)
    }

    @Test("a socket whose peer is gone closes its place, without a signal")
    func broken() {
        let pair = Pair()
        var row = makeRow(of: [pair])
        shutdown(pair.near, CInt(SHUT_RDWR))
        let once = row.send(ByteBuffer(bytes: [1]), below: 1, now: now)
        #expect(once == SocketRow.Stop(index: 0, sent: 0))
        let twice = row.send(ByteBuffer(bytes: [1]), below: 1, now: now)
        #expect(twice == SocketRow.Stop(index: 0, sent: 0))
    }

    @Test("a place that is taken away is filled by the last one, open or closed as that was")
    func removal() {
        let pairs = (0..<3).map { _ in Pair() }
        var row = makeRow(of: pairs)
        row.remove(at: 0)
        #expect(row.count == 2)
        let through = row.send(ByteBuffer(bytes: [5]), below: 9, now: now)
        #expect(through == nil)
        #expect(pairs.map { $0.read() } == [[], [5], [5]])
        row.close(1)
        row.remove(at: 0)
        let closed = row.send(ByteBuffer(bytes: [6]), below: 1, now: now)
        #expect(closed == SocketRow.Stop(index: 0, sent: 0))
        row.remove(at: 0)
        let empty = row.send(ByteBuffer(bytes: [7]), below: 0, now: now)
        #expect(empty == nil)
    }
}
