import Foundation
import Glibc
import Media
import Synchronization

/// A TCP proxy on 127.0.0.1 that simulates network faults: it forwards, resets, drops, delays or throttles.
///
/// The proxy thread and all connections end with the value.
public final class FaultProxy: Sendable {
    /// The treatment of connections and their bytes.
    public enum Mode: Sendable, Equatable {
        /// Forwards all bytes.
        case pass
        /// Resets existing and new connections.
        case cut
        /// Accepts connections but forwards nothing until the mode changes.
        case blackHole
        /// Forwards all bytes with a delay.
        case delay(Duration)
        /// Forwards at most this rate in each direction.
        case slow(bytesPerSecond: Int)
    }

    /// The port of 127.0.0.1 to connect to.
    public let port: Int

    private let settings: FaultProxySettings

    /// Starts listening for connections to forward to a port of 127.0.0.1.
    ///
    /// - Throws: `ToolFailure` if it cannot listen.
    public init(to target: Int, mode: Mode = .pass) throws {
        let (listener, port) = try LoopbackSocket.listen()
        self.port = port
        settings = FaultProxySettings(mode: mode, target: target)
        let loop = FaultProxyLoop(listener: listener, settings: settings)
        _ = WorkerThread(name: "fault-proxy") { loop.run() }
    }

    deinit { close() }

    /// The current mode; a change takes effect within milliseconds.
    public var mode: Mode {
        get { settings.mode }
        set { settings.mode = newValue }
    }

    /// The port of 127.0.0.1 to which new connections are forwarded.
    public var target: Int {
        get { settings.target }
        set { settings.target = newValue }
    }

    /// The number of accepted connections, including those reset immediately.
    public var connectionCount: Int { settings.connectionCount }

    /// Whether a request was forwarded whose response has not come through yet, as of some milliseconds ago.
    ///
    /// False in the modes `cut` and `blackHole`. A test with a manual clock stops it meanwhile, so that a slow machine
    /// does not use up the client's deadline.
    public var hasPendingResponse: Bool { settings.hasPendingResponse }

    /// Closes all connections and stops listening.
    public func close() {
        settings.isOver = true
    }
}

/// The state shared by a proxy and its thread.
final class FaultProxySettings: Sendable {
    private struct State {
        var mode: FaultProxy.Mode
        var target: Int
        var connectionCount = 0
        var hasPendingResponse = false
        var isOver = false
    }

    private let state: Mutex<State>

    init(mode: FaultProxy.Mode, target: Int) {
        state = Mutex(State(mode: mode, target: target))
    }

    var mode: FaultProxy.Mode {
        get { state.withLock { $0.mode } }
        set { state.withLock { $0.mode = newValue } }
    }

    var target: Int {
        get { state.withLock { $0.target } }
        set { state.withLock { $0.target = newValue } }
    }

    var hasPendingResponse: Bool {
        get { state.withLock { $0.hasPendingResponse } }
        set { state.withLock { $0.hasPendingResponse = newValue } }
    }

    var isOver: Bool {
        get { state.withLock { $0.isOver } }
        set { state.withLock { $0.isOver = newValue } }
    }

    var connectionCount: Int { state.withLock { $0.connectionCount } }

    func countConnection() {
        state.withLock { $0.connectionCount += 1 }
    }
}

/// The thread of a proxy, which polls all its sockets some hundred times a second.
struct FaultProxyLoop: Sendable {
    let listener: Int32
    let settings: FaultProxySettings

    /// A direction of a connection.
    private struct Direction {
        let from: Int32
        let to: Int32
        var waiting: [(due: MonotonicTime, bytes: [UInt8])] = []
        var isEnded = false
        // The bytes read and written so far.
        var received = 0
        var sent = 0

        /// The number of waiting bytes above which reading is suspended.
        static let limit = 1 << 20

        /// Transfers the available bytes.
        ///
        /// - Parameter share: The maximum number of bytes to read.
        /// - Returns: False if a socket failed or the stream is complete.
        mutating func move(delay: Double, share: Int, now: MonotonicTime) -> Bool {
            var buffer = [UInt8](repeating: 0, count: 65_536)
            var share = share
            while !isEnded, share > 0, waiting.reduce(0, { $0 + $1.bytes.count }) < Self.limit {
                let count = read(from, &buffer, min(buffer.count, share))
                if count > 0 {
                    share -= count
                    received += count
                    waiting.append((now.advanced(seconds: delay), Array(buffer[..<count])))
                } else if count == 0 {
                    isEnded = true
                } else if errno == EAGAIN || errno == ENOTCONN {
                    break
                } else {
                    return false
                }
            }
            while let first = waiting.first, first.due <= now {
                let count = send(to, first.bytes, first.bytes.count, Int32(MSG_NOSIGNAL))
                sent += max(count, 0)
                if count == first.bytes.count {
                    waiting.removeFirst()
                } else if count >= 0 {
                    waiting[0].bytes.removeFirst(count)
                } else if errno == EAGAIN || errno == ENOTCONN {
                    break
                } else {
                    return false
                }
            }
            return !(isEnded && waiting.isEmpty)
        }
    }

    private struct Link {
        var up: Direction
        var down: Direction
        /// Whether the client has sent, or is about to send, a request without a response so far.
        var isAwaitingResponse = true

        /// - Returns: False if the connection has ended.
        mutating func move(delay: Double, share: Int, now: MonotonicTime) -> Bool {
            let (receivedBefore, sentBefore) = (up.received, down.sent)
            let isUp = up.move(delay: delay, share: share, now: now)
            let isDown = down.move(delay: delay, share: share, now: now)
            if up.received > receivedBefore { isAwaitingResponse = true }
            if down.sent > sentBefore { isAwaitingResponse = false }
            return isUp && isDown
        }

        func reset() {
            LoopbackSocket.reset(up.from)
            LoopbackSocket.reset(up.to)
        }
    }

    func run() {
        var links: [Link] = []
        var latest = MonotonicTime.now()
        while !settings.isOver {
            let mode = settings.mode
            while let client = LoopbackSocket.accept(listener) {
                settings.countConnection()
                if mode != .cut, let server = LoopbackSocket.connect(port: settings.target) {
                    let (up, down) = (Direction(from: client, to: server), Direction(from: server, to: client))
                    links.append(Link(up: up, down: down))
                } else {
                    LoopbackSocket.reset(client)
                }
            }
            switch mode {
            case .pass: move(&links, delay: 0)
            case .delay(let delay):
                let parts = delay.components
                move(&links, delay: Double(parts.seconds) + Double(parts.attoseconds) / 1e18)
            case .slow(let rate):
                let elapsed = MonotonicTime.now().seconds(since: latest)
                move(&links, delay: 0, share: max(1, Int(Double(rate) * elapsed)))
            case .cut:
                for link in links { link.reset() }
                links = []
            case .blackHole: break
            }
            settings.hasPendingResponse = mode != .blackHole && links.contains { $0.isAwaitingResponse }
            latest = MonotonicTime.now()
            usleep(3_000)
        }
        for link in links { link.reset() }
        close(listener)
    }

    private func move(_ links: inout [Link], delay: Double, share: Int = .max) {
        let now = MonotonicTime.now()
        for index in links.indices.reversed() {
            if !links[index].move(delay: delay, share: share, now: now) {
                // HTTP does not use half-open connections, so both directions end together.
                close(links[index].up.from)
                close(links[index].up.to)
                links.remove(at: index)
            }
        }
    }
}
