import FootlightTesting
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
        let dialogue = PlayDialogue(port: server.port, application: server.application, stream: server.stream)
        var sockets: [Int32] = []
        do {
            while sockets.count < size {
                let first = sockets.count
                for _ in 0..<min(Self.batch, size - first) {
                    sockets.append(try Self.connect(port: server.port))
                }
                for socket in sockets[first...] { try Self.send(dialogue.hello, on: socket) }
                for socket in sockets[first...] {
                    try Self.receive(PlayDialogue.answerLength, from: socket)
                    try Self.send(dialogue.request, on: socket)
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

    private static func connect(port: Int) throws -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw failure("no socket for a viewer") }
        var deadline = timeval(tv_sec: 10, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &deadline, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(truncatingIfNeeded: port)).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else {
            close(descriptor)
            throw failure("a viewer cannot connect")
        }
        return descriptor
    }

    private static func send(_ bytes: [UInt8], on socket: Int32) throws {
        let sent = bytes.withUnsafeBytes { Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        guard sent == bytes.count else { throw failure("a viewer cannot ask") }
    }

    private static func receive(_ length: Int, from socket: Int32) throws {
        var bytes = [UInt8](repeating: 0, count: length)
        let received = bytes.withUnsafeMutableBytes {
            recv(socket, $0.baseAddress, $0.count, Int32(MSG_WAITALL))
        }
        guard received == length else { throw failure("the server does not shake hands") }
    }

    private static func failure(_ what: String) -> ToolFailure {
        ToolFailure(what, log: String(cString: strerror(errno)))
    }
}
