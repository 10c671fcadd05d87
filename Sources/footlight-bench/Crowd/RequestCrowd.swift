import FootlightTesting
import Foundation
import Glibc
import Media
import Synchronization

/// Many viewers by HTTP, each on a connection of its own that stays open, on one thread.
///
/// As a `Crowd` they look at their connections now and then only; bodies are thrown away in the kernel.
final class RequestCrowd: Sendable {
    /// What a viewer does next.
    enum Step {
        case ask([UInt8])
        /// Nothing, until it is looked at again.
        case rest
    }

    /// How far it has come.
    struct Count: Sendable {
        var answers = 0
        var bytes = 0
        /// Answers that were no success.
        var failures = 0
        /// Connections that the server ended.
        var closed = 0
    }

    private struct Viewer {
        let socket: Int32
        var turn = 0
        var isAsking = false
        /// Bytes of the body that are to come.
        var remaining = 0
        var hasHead = false
        var head: [UInt8] = []
    }

    private static let sweep: Int64 = 50

    private let next: @Sendable (_ viewer: Int, _ turn: Int, _ now: MonotonicTime) -> Step
    private let sockets: [Int32]
    private let counted = Mutex(Count())
    private let isStopped = Atomic(false)
    private let hasEnded = DispatchSemaphore(value: 0)

    /// Connects all viewers and lets them begin.
    ///
    /// - Parameter next: What a viewer does whose last request is answered; `turn` is how many those are.
    init(
        of size: Int,
        port: Int,
        next: @escaping @Sendable (_ viewer: Int, _ turn: Int, _ now: MonotonicTime) -> Step
    ) throws {
        self.next = next
        var sockets: [Int32] = []
        do {
            for _ in 0..<size { sockets.append(try ViewerSocket.connect(port: port)) }
        } catch {
            for socket in sockets { close(socket) }
            throw error
        }
        self.sockets = sockets
        Thread.detachNewThread {
            self.run()
            self.hasEnded.signal()
        }
    }

    var count: Count { counted.withLock { $0 } }

    /// Lets all leave; called once.
    func leave() {
        isStopped.store(true, ordering: .relaxed)
        hasEnded.wait()
        for socket in sockets { close(socket) }
    }

    private func run() {
        let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)
        defer { scratch.deallocate() }
        var viewers = sockets.map { Viewer(socket: $0) }
        var gone: Set<Int> = []
        var moment = MonotonicTime.now()
        while !isStopped.load(ordering: .relaxed) {
            var count = Count()
            for index in viewers.indices where !gone.contains(index) {
                if !turn(of: &viewers[index], index, scratch, &count) {
                    gone.insert(index)
                    count.closed += 1
                }
            }
            counted.withLock { total in
                total.answers += count.answers
                total.bytes += count.bytes
                total.failures += count.failures
                total.closed += count.closed
            }
            moment = moment.advanced(milliseconds: Self.sweep)
            sleepUntil(moment)
        }
    }

    /// - Returns: False when the server ended the connection.
    private func turn(
        of viewer: inout Viewer,
        _ index: Int,
        _ scratch: UnsafeMutableRawBufferPointer,
        _ count: inout Count
    ) -> Bool {
        while viewer.isAsking {
            // Of a body nothing is wanted, for TCP MSG_TRUNC drops it instead of copying it (tcp(7)).
            let flags = Int32(MSG_DONTWAIT) | (viewer.hasHead ? Int32(MSG_TRUNC) : 0)
            let most = viewer.hasHead ? min(viewer.remaining, 1 << 20) : 1024
            let taken = recv(viewer.socket, scratch.baseAddress, most, flags)
            if taken < 0, errno == EAGAIN || errno == EINTR { return true }
            guard taken > 0 else { return false }
            count.bytes += taken
            if viewer.hasHead {
                viewer.remaining -= taken
            } else {
                viewer.head += scratch[..<taken]
                guard let head = AnswerHead(viewer.head) else { continue }
                viewer.hasHead = true
                viewer.remaining = head.length + head.bodyLength - viewer.head.count
                viewer.head.removeAll(keepingCapacity: true)
                if head.status != 200 { count.failures += 1 }
            }
            guard viewer.hasHead, viewer.remaining <= 0 else { continue }
            count.answers += 1
            viewer.isAsking = false
            viewer.hasHead = false
        }
        guard case .ask(let request) = next(index, viewer.turn, .now()) else { return true }
        guard (try? ViewerSocket.send(request, on: viewer.socket)) != nil else { return false }
        viewer.turn += 1
        viewer.isAsking = true
        return true
    }
}
