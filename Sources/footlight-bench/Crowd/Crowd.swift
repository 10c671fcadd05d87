import FootlightTesting
import Foundation
import Glibc
import Media
import NIOPosix
import Synchronization
import TestSupport

/// Many viewers that only read, on one thread.
///
/// The thread polls every connection five times a second instead of waiting for each: waking a receiver for every write
/// would cost processor time that is billed to the server. Received bytes are counted and discarded in the kernel.
final class Crowd: Sendable {
    private struct Count: Sendable {
        var bytes = 0
        var closed = 0
    }

    private static let sweep: Int64 = 200
    /// The number of viewers that connect at the same time.
    private static let batch = 50

    let size: Int
    private let sockets: [Int32]
    private let count = Mutex(Count())
    private let isStopped = Atomic(false)
    private let hasEnded = DispatchSemaphore(value: 0)

    /// Connects all viewers, and returns when each has sent its play request.
    ///
    /// - Throws: `ToolFailure` when a viewer cannot connect, or the server does not complete the handshake.
    init(of size: Int, watching server: MediaServer) throws {
        self.size = size
        let dialogue = server.dialogue
        var sockets: [Int32] = []
        do {
            while sockets.count < size {
                let first = sockets.count
                for _ in 0..<min(Self.batch, size - first) {
                    sockets.append(try ViewerSocket.connect(port: server.viewerPort))
                }
                for socket in sockets[first...] { try ViewerSocket.send(dialogue.opening, on: socket) }
                guard !dialogue.request.isEmpty else { continue }
                for socket in sockets[first...] {
                    try ViewerSocket.skip(dialogue.responseLength, from: socket)
                    try ViewerSocket.send(dialogue.request, on: socket)
                }
            }
        } catch {
            for socket in sockets { close(socket) }
            throw error
        }
        self.sockets = sockets
        Thread.detachNewThread {
            self.read()
            self.hasEnded.signal()
        }
    }

    /// The bytes read by all viewers so far, and the number of connections that the server closed.
    var received: (bytes: Int, closed: Int) { count.withLock { ($0.bytes, $0.closed) } }

    /// Disconnects all viewers; called once.
    func leave() {
        isStopped.store(true, ordering: .relaxed)
        hasEnded.wait()
        for socket in sockets { close(socket) }
    }

    private func read() {
        let scratch = UnsafeMutableRawPointer.allocate(byteCount: 1 << 16, alignment: 16)
        defer { scratch.deallocate() }
        // For TCP, MSG_TRUNC discards what was read instead of copying it (tcp(7)).
        let flags = Int32(MSG_DONTWAIT) | Int32(MSG_TRUNC)
        var open = sockets
        var next = MonotonicTime.now()
        while !isStopped.load(ordering: .relaxed) {
            var bytes = 0
            var closed: Set<Int32> = []
            for socket in open {
                var byteCount = 1 << 16
                while byteCount == 1 << 16 {
                    byteCount = recv(socket, scratch, 1 << 16, flags)
                    if byteCount > 0 { bytes += byteCount }
                    if byteCount == 0 || (byteCount < 0 && errno != EAGAIN && errno != EINTR) { closed.insert(socket) }
                }
            }
            if !closed.isEmpty { open.removeAll { closed.contains($0) } }
            count.withLock { count in
                count.bytes += bytes
                count.closed += closed.count
            }
            next = next.advanced(milliseconds: Self.sweep)
            sleepUntil(next)
        }
    }
}

/// Viewers that join one after the other and leave at their first keyframe, to measure the startup time.
final class StartupProbe: Sendable {
    private let waits = Mutex(Samples())

    /// Mean milliseconds between two joins; each gap is random, so that joins meet all parts of a GOP.
    private static let pause = 80.0

    /// Joins `count` viewers.
    ///
    /// - Returns: Milliseconds from opening the TCP connection to the last byte of the first keyframe.
    func join(_ server: MediaServer, count: Int, group: MultiThreadedEventLoopGroup) async throws -> Samples {
        for _ in 0..<count {
            join(server, group: group)
            try await Task.sleep(for: .milliseconds(Self.pause * Double.random(in: 0.25...1.75)))
        }
        guard try await eventually(within: .seconds(5), { self.waits.withLock { $0.values.count } == count }) else {
            let arrived = waits.withLock { $0.values.count }
            throw ToolFailure("\(server.name): only \(arrived) of \(count) viewers received a keyframe")
        }
        return waits.withLock { $0 }
    }

    private func join(_ server: MediaServer, group: MultiThreadedEventLoopGroup) {
        // The slot keeps the player alive until it ends.
        let slot = PlayerSlot()
        let start = MonotonicTime.now()
        let player = server.player(group: group) { [self] packet, arrival in
            guard packet.isKeyframe, let player = slot.remove() else { return }
            waits.withLock { $0.add(arrival.seconds(since: start) * 1000) }
            player.stop()
        } onEnd: {
            _ = slot.remove()
        }
        slot.store(player)
        player.start()
    }
}

/// Holds one player until it is removed.
private final class PlayerSlot: Sendable {
    private let player = Mutex<(any StreamPlayer)?>(nil)

    func store(_ player: any StreamPlayer) {
        self.player.withLock { $0 = player }
    }

    func remove() -> (any StreamPlayer)? {
        player.withLock { player in
            defer { player = nil }
            return player
        }
    }
}

/// One viewer beside the crowd that measures the delay of each frame.
final class DelayProbe: Sendable {
    private let delays = Mutex(Samples())
    private let player = Mutex<(any StreamPlayer)?>(nil)

    init(_ server: MediaServer, of stream: PublishedStream, group: MultiThreadedEventLoopGroup) {
        let player = server.player(group: group) { [self] packet, arrival in
            guard let delay = stream.delay(of: packet, arrival: arrival) else { return }
            delays.withLock { $0.add(delay) }
        } onEnd: {
        }
        self.player.withLock { $0 = player }
        player.start()
    }

    /// Discards the delays so far, including those of the cached frames at the start.
    func reset() {
        delays.withLock { $0 = Samples() }
    }

    /// Stops the viewer; returns milliseconds from publisher to viewer.
    func stop() -> Samples {
        player.withLock { player in
            player?.stop()
            player = nil
        }
        return delays.withLock { $0 }
    }
}
