internal import CRTMP
import Glibc

/// Ends a push thread's wait in `poll` from another thread.
final class WakeSignal: Sendable {
    /// Readable while a wake is pending; -1 when the process has no descriptor left, so that only timeouts end a wait.
    let descriptor: Int32

    init() {
        descriptor = c_wake_open()
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Ends the current or the next wait; never blocks, on any thread.
    func wake() {
        var one: UInt64 = 1
        _ = write(descriptor, &one, MemoryLayout<UInt64>.size)
    }

    /// Clears pending wakes; the waiting thread calls it before it checks for work.
    func clear() {
        var count: UInt64 = 0
        _ = read(descriptor, &count, MemoryLayout<UInt64>.size)
    }

    /// The result of a wait.
    struct Readiness {
        var isWoken = false
        /// Whether the socket has data or an error.
        var isReadable = false
        var isWritable = false
    }

    /// Waits for a wake or for the socket, for at most `milliseconds`.
    ///
    /// - Parameter socket: -1 waits for a wake only.
    func wait(socket: Int32 = -1, writable: Bool = false, readable: Bool = true, milliseconds: Int32) -> Readiness {
        withUnsafeTemporaryAllocation(of: pollfd.self, capacity: 2) { polls in
            let events = (readable ? POLLIN : 0) | (writable ? POLLOUT : 0)
            polls[0] = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            polls[1] = pollfd(fd: socket, events: Int16(events), revents: 0)
            guard poll(polls.baseAddress, 2, milliseconds) > 0 else { return Readiness() }
            let fault = Int16(POLLERR | POLLHUP | POLLNVAL)
            let happened = polls[1].revents
            return Readiness(
                isWoken: polls[0].revents & Int16(POLLIN) != 0,
                isReadable: happened & (Int16(POLLIN) | fault) != 0,
                isWritable: happened & (Int16(POLLOUT) | fault) != 0
            )
        }
    }
}
