internal import CRTMP
import Glibc
import Media
import Synchronization

/// A second descriptor of a connection's socket, for what must be done from outside of librtmp.
///
/// librtmp closes its descriptor itself, inside of whatever call fails; a number kept elsewhere could by then belong to
/// another socket. The duplicate made here is closed here alone, so looking at it, or shutting it down from any
/// thread, always meets the right connection.
final class SocketGuard: Sendable {
    private static let none = Int64.max

    /// The moment (monotonic nanoseconds) the call under way must have ended by.
    private let deadline = Atomic<Int64>(none)
    /// Ends the whole connection at that moment, whatever call is under way.
    private let lastMoment = Atomic<Int64>(none)
    private let wasShut = Atomic<Bool>(false)
    /// -1 once closed.
    private let descriptor: Mutex<Int32>

    /// Takes a duplicate of `socket`, which stays the caller's; nil when the process has no descriptor left.
    init?(of socket: Int32) {
        let duplicate = fcntl(socket, F_DUPFD_CLOEXEC, 0)
        guard duplicate >= 0 else { return nil }
        descriptor = Mutex(duplicate)
        Watchdog.shared.add(self)
    }

    /// The watchdog, not the peer, ended the connection.
    var isShut: Bool { wasShut.load(ordering: .acquiring) }

    /// For the connection's own thread, which alone closes it.
    var socket: Int32 { descriptor.withLock { $0 } }

    /// Runs a call that may block, with a limit in seconds.
    ///
    /// Only the connection's own thread calls this.
    func limited<Result>(to seconds: Double, _ call: () -> Result) -> Result {
        deadline.store(MonotonicTime.now().advanced(seconds: seconds).nanoseconds, ordering: .releasing)
        defer { deadline.store(Self.none, ordering: .releasing) }
        return call()
    }

    /// Sets the moment after which nothing on this connection may go on; nil lifts it.
    ///
    /// Any thread.
    func endAll(at moment: MonotonicTime?) {
        lastMoment.store(moment?.nanoseconds ?? Self.none, ordering: .releasing)
        if moment != nil { Watchdog.shared.look() }
    }

    /// Shuts the socket when a deadline has passed.
    ///
    /// Called by the watchdog.
    ///
    /// - Returns: The deadline that is still ahead, if there is one.
    func enforce(now: MonotonicTime) -> MonotonicTime? {
        let limit = min(deadline.load(ordering: .acquiring), lastMoment.load(ordering: .acquiring))
        guard now.nanoseconds >= limit else {
            return limit == Self.none ? nil : MonotonicTime(nanoseconds: limit)
        }
        shut()
        return nil
    }

    /// Ends both directions at once; blocked calls return.
    ///
    /// Any thread.
    func shut() {
        wasShut.store(true, ordering: .releasing)
        descriptor.withLock { if $0 >= 0 { _ = shutdown($0, Int32(SHUT_RDWR)) } }
    }

    /// Bytes the peer has not acknowledged yet; nil on a broken socket.
    var unsentBytes: Int? {
        let bytes = c_socket_unsent(socket)
        return bytes < 0 ? nil : Int(bytes)
    }

    /// Gives the duplicate back.
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
