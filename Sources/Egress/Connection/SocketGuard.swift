internal import CRTMP
import Glibc
import Media
import Synchronization

/// A duplicate descriptor of a connection's socket, for deadlines and shutdown from outside librtmp.
///
/// librtmp closes its descriptor inside any failing call, after which the number may belong to another socket. Only
/// this object closes the duplicate, so reading its state and shutting it down from any thread always affects the right
/// connection.
final class SocketGuard: Sendable {
    private static let none = Int64.max

    /// The deadline (monotonic nanoseconds) of the current call.
    private let deadline = Atomic<Int64>(none)
    /// The deadline of the whole connection, independent of the current call.
    private let lastMoment = Atomic<Int64>(none)
    private let wasShut = Atomic<Bool>(false)
    /// -1 once closed.
    private let descriptor: Mutex<Int32>

    /// Duplicates `socket`, which the caller keeps; nil when the process has no descriptor left.
    init?(of socket: Int32) {
        let duplicate = fcntl(socket, F_DUPFD_CLOEXEC, 0)
        guard duplicate >= 0 else { return nil }
        descriptor = Mutex(duplicate)
        Watchdog.shared.add(self)
    }

    /// Whether the watchdog or a stop, rather than the peer, ended the connection.
    var isShut: Bool { wasShut.load(ordering: .acquiring) }

    /// The descriptor, for the connection's own thread, which alone closes it.
    var socket: Int32 { descriptor.withLock { $0 } }

    /// Runs a blocking call with a timeout in seconds.
    ///
    /// Only the connection's own thread calls this.
    func limited<Result>(to seconds: Double, _ call: () -> Result) -> Result {
        deadline.store(MonotonicTime.now().advanced(seconds: seconds).nanoseconds, ordering: .releasing)
        defer { deadline.store(Self.none, ordering: .releasing) }
        return call()
    }

    /// Sets the deadline of the connection; nil removes it.
    ///
    /// Any thread.
    func endAll(at moment: MonotonicTime?) {
        lastMoment.store(moment?.nanoseconds ?? Self.none, ordering: .releasing)
        if moment != nil { Watchdog.shared.check() }
    }

    /// Shuts the socket down when a deadline has passed.
    ///
    /// Called by the watchdog.
    ///
    /// - Returns: The next deadline, if any.
    func enforce(now: MonotonicTime) -> MonotonicTime? {
        let limit = min(deadline.load(ordering: .acquiring), lastMoment.load(ordering: .acquiring))
        guard now.nanoseconds >= limit else {
            return limit == Self.none ? nil : MonotonicTime(nanoseconds: limit)
        }
        shut()
        return nil
    }

    /// Shuts both directions down, so that blocked calls return.
    ///
    /// Any thread.
    func shut() {
        wasShut.store(true, ordering: .releasing)
        descriptor.withLock { if $0 >= 0 { _ = shutdown($0, Int32(SHUT_RDWR)) } }
    }

    /// Bytes the peer has not acknowledged; nil on a broken socket.
    var unsentBytes: Int? {
        let bytes = c_socket_unsent(socket)
        return bytes < 0 ? nil : Int(bytes)
    }

    /// Closes the duplicate.
    ///
    /// Only the connection's own thread calls this.
    func close() {
        Watchdog.shared.remove(self)
        descriptor.withLock {
            if $0 >= 0 { _ = Glibc.close($0) }
            $0 = -1
        }
    }
}

/// Ends calls that exceed their deadline, with one thread for all pushes of the process.
///
/// librtmp's calls block and cannot be cancelled, but they return when their socket is shut down, which this thread
/// does when a deadline has passed. Connection deadlines are kept to the millisecond. Call deadlines are polled every
/// 250 ms, so that setting one costs no wake-up.
final class Watchdog: Sendable {
    static let shared = Watchdog()

    private struct Watched: Sendable {
        var guards: [ObjectIdentifier: SocketGuard] = [:]
        var isRunning = false
        /// Whether a connection deadline was set since the thread's last pass.
        var isChanged = false
    }

    private static let period: Int64 = 250

    private let watched = Latch(Watched())

    func add(_ socket: SocketGuard) {
        let mustStart = watched.update { state in
            state.guards[ObjectIdentifier(socket)] = socket
            defer { state.isRunning = true }
            return !state.isRunning
        }
        guard mustStart else { return }
        let thread = WorkerThread(name: "push-watchdog", stackSize: WorkerThread.smallStack) { self.run() }
        if !thread.hasStarted { watched.update { $0.isRunning = false } }
    }

    func remove(_ socket: SocketGuard) {
        watched.update(wakes: false) { _ = $0.guards.removeValue(forKey: ObjectIdentifier(socket)) }
    }

    /// Wakes the thread after a connection deadline was set.
    func check() {
        watched.update { $0.isChanged = true }
    }

    /// The body of the watchdog's thread, which runs for the life of the process and sleeps while nothing is watched.
    private func run() {
        while true {
            let guards = watched.wait(until: nil) { state in state.guards.isEmpty ? nil : Array(state.guards.values) }
            let now = MonotonicTime.now()
            var next = now.advanced(milliseconds: Self.period)
            for socket in guards ?? [] {
                if let moment = socket.enforce(now: now) { next = min(next, moment) }
            }
            _ = watched.wait(until: next) { state in
                defer { state.isChanged = false }
                return state.isChanged ? true : nil
            }
        }
    }
}
