import Foundation
import Glibc
import Media
import Synchronization

/// Many viewers that only read, on one thread.
///
/// They look at every connection five times a second instead of waiting for each: a receiver that the kernel has to
/// wake for every write would bill that to the server. What comes is counted and thrown away in the kernel.
final class Crowd: Sendable {
    private struct Count: Sendable {
        var bytes = 0
        var closed = 0
    }

    private static let sweep: Int64 = 200
    /// Viewers that connect at the same time.
    private static let batch = 50

    let size: Int
    private let sockets: [Int32]
    private let count = Mutex(Count())
    private let isStopped = Atomic(false)
    private let hasEnded = DispatchSemaphore(value: 0)

    /// Connects all viewers; returns when each has asked to play.
    ///
    /// - Throws: `ToolFailure` when one cannot connect, or the server does not shake hands.
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
                for socket in sockets[first...] { try ViewerSocket.send(dialogue.hello, on: socket) }
                guard !dialogue.request.isEmpty else { continue }
                for socket in sockets[first...] {
                    try ViewerSocket.skip(dialogue.answerLength, from: socket)
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

    /// Bytes read by all viewers so far, and how many were sent away.
    var received: (bytes: Int, closed: Int) { count.withLock { ($0.bytes, $0.closed) } }

    /// Lets all leave; called once.
    func leave() {
        isStopped.store(true, ordering: .relaxed)
        hasEnded.wait()
        for socket in sockets { close(socket) }
    }

    private func read() {
        let scratch = UnsafeMutableRawPointer.allocate(byteCount: 1 << 16, alignment: 16)
        defer { scratch.deallocate() }
        // For TCP, MSG_TRUNC drops what was read instead of copying it (tcp(7)).
        let flags = Int32(MSG_DONTWAIT) | Int32(MSG_TRUNC)
        var open = sockets
        var next = MonotonicTime.now()
        while !isStopped.load(ordering: .relaxed) {
            var bytes = 0
            var closed: Set<Int32> = []
            for socket in open {
                var taken = 1 << 16
                while taken == 1 << 16 {
                    taken = recv(socket, scratch, 1 << 16, flags)
                    if taken > 0 { bytes += taken }
                    if taken == 0 || (taken < 0 && errno != EAGAIN && errno != EINTR) { closed.insert(socket) }
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
