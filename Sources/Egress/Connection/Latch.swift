import Glibc
import Media

/// A mutex with a condition variable, on which threads wait with a deadline.
final class Latch<State: Sendable>: Sendable {
    // Both live as long as the object, never move, and are accessed only through pthread calls.
    private nonisolated(unsafe) let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private nonisolated(unsafe) let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    // Read and written only while `mutex` is held.
    private nonisolated(unsafe) var state: State

    init(_ state: State) {
        self.state = state
        pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    /// Reads or changes the state; `wakes` wakes all waiting threads.
    func update<Result>(wakes: Bool = true, _ body: (inout State) -> Result) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        let result = body(&state)
        if wakes { pthread_cond_broadcast(condition) }
        return result
    }

    /// Waits until `ready` returns a value, at most until `deadline` (nil for no deadline).
    ///
    /// `ready` runs with the state locked and may change it. Returns nil when the deadline passed first.
    func wait<Result>(until deadline: MonotonicTime?, _ ready: (inout State) -> Result?) -> Result? {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            if let result = ready(&state) { return result }
            guard let deadline else {
                pthread_cond_wait(condition, mutex)
                continue
            }
            var time = timespec(
                tv_sec: Int(deadline.nanoseconds / 1_000_000_000),
                tv_nsec: Int(deadline.nanoseconds % 1_000_000_000)
            )
            if pthread_cond_timedwait(condition, mutex, &time) == ETIMEDOUT { return ready(&state) }
        }
    }
}
