import Foundation
import Glibc
import Media
import Synchronization
import TestSupport

/// Many HTTP viewers, each on its own persistent connection, on one thread.
///
/// As in a `Crowd`, connections are polled at intervals; bodies are discarded in the kernel.
final class RequestCrowd: Sendable {
    /// The next action of a viewer.
    enum Step {
        case request([UInt8])
        /// No request until the next poll.
        case rest
    }

    /// The totals so far.
    struct Count: Sendable {
        var answers = 0
        var bytes = 0
        /// Responses with a status other than success.
        var failures = 0
        /// Connections that the server closed.
        var closed = 0
    }

    private struct Viewer {
        let socket: Int32
        var turn = 0
        var isWaiting = false
        /// Bytes of the body still to be received.
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

    /// Connects all viewers and starts their requests.
    ///
    /// - Parameter next: Returns the next action of an idle viewer; `turn` is the number of its requests so far.
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

    /// Disconnects all viewers; called once.
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

    /// - Returns: False when the server closed the connection.
    private func turn(
        of viewer: inout Viewer,
        _ index: Int,
        _ scratch: UnsafeMutableRawBufferPointer,
        _ count: inout Count
    ) -> Bool {
        while viewer.isWaiting {
            // The body is not needed: for TCP, MSG_TRUNC discards it instead of copying it (tcp(7)).
            let flags = Int32(MSG_DONTWAIT) | (viewer.hasHead ? Int32(MSG_TRUNC) : 0)
            let most = viewer.hasHead ? min(viewer.remaining, 1 << 20) : 1024
            let byteCount = recv(viewer.socket, scratch.baseAddress, most, flags)
            if byteCount < 0, errno == EAGAIN || errno == EINTR { return true }
            guard byteCount > 0 else { return false }
            count.bytes += byteCount
            if viewer.hasHead {
                viewer.remaining -= byteCount
            } else {
                viewer.head += scratch[..<byteCount]
                guard let head = ResponseHead(viewer.head) else { continue }
                viewer.hasHead = true
                viewer.remaining = head.length + head.bodyLength - viewer.head.count
                viewer.head.removeAll(keepingCapacity: true)
                if head.status != 200 { count.failures += 1 }
            }
            guard viewer.hasHead, viewer.remaining <= 0 else { continue }
            count.answers += 1
            viewer.isWaiting = false
            viewer.hasHead = false
        }
        guard case .request(let request) = next(index, viewer.turn, .now()) else { return true }
        guard (try? ViewerSocket.send(request, on: viewer.socket)) != nil else { return false }
        viewer.turn += 1
        viewer.isWaiting = true
        return true
    }
}

/// A connection for sequential requests; each call waits for the response.
struct HTTPExchange: ~Copyable {
    private let socket: Int32
    private var rest: [UInt8] = []

    init(port: Int) throws {
        socket = try ViewerSocket.connect(port: port)
    }

    deinit { close(socket) }

    /// Returns the bytes of a GET request for a path.
    static func request(_ path: String) -> [UInt8] {
        Array("GET \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: bench\r\n\r\n".utf8)
    }

    /// Sends a request and waits for the complete response.
    ///
    /// - Throws: `ToolFailure` when there is none within ten seconds, or the connection ends early.
    mutating func get(_ path: String) throws -> (status: Int, body: [UInt8]) {
        try ViewerSocket.send(Self.request(path), on: socket)
        var head = ResponseHead(rest)
        while head == nil {
            try receive()
            head = ResponseHead(rest)
        }
        guard let head else { throw ToolFailure("no response to \(path)") }
        while rest.count < head.length + head.bodyLength { try receive() }
        let body = Array(rest[head.length..<head.length + head.bodyLength])
        rest.removeFirst(head.length + head.bodyLength)
        return (head.status, body)
    }

    private mutating func receive() throws {
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        let count = bytes.withUnsafeMutableBytes { recv(socket, $0.baseAddress, $0.count, 0) }
        guard count > 0 else { throw ViewerSocket.failure("a response is incomplete") }
        rest += bytes[..<count]
    }
}

/// The status line and length of an HTTP response.
struct ResponseHead {
    let status: Int
    /// Bytes up to the body.
    let length: Int
    let bodyLength: Int

    /// Parses the first bytes of a response; nil while its header is incomplete.
    init?(_ bytes: some Collection<UInt8>) {
        guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
        let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).split(separator: "\r\n")
        let words = lines.first?.split(separator: " ") ?? []
        status = words.count > 1 ? Int(words[1]) ?? 0 : 0
        length = bytes.distance(from: bytes.startIndex, to: end.upperBound)
        let field = lines.first { $0.lowercased().hasPrefix("content-length:") }
        bodyLength = field.flatMap { Int($0.dropFirst("content-length:".count).drop { $0 == " " }) } ?? 0
    }
}
