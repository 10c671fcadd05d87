import Media

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Sleeps until a point in time, and reads the processor time of the calling thread.
enum MonotonicSleep {
    /// Sleeps until `moment` on CLOCK_MONOTONIC; returns at once when it has passed.
    ///
    /// A signal does not end it early.
    static func until(_ moment: MonotonicTime) {
        #if canImport(Glibc)
        var time = timespec(
            tv_sec: Int(moment.nanoseconds / 1_000_000_000),
            tv_nsec: Int(moment.nanoseconds % 1_000_000_000)
        )
        while clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nil) == EINTR {}
        #else
        let remaining = moment.nanoseconds - MonotonicTime.now().nanoseconds
        guard remaining > 0 else { return }
        var time = timespec(tv_sec: Int(remaining / 1_000_000_000), tv_nsec: Int(remaining % 1_000_000_000))
        nanosleep(&time, nil)
        #endif
    }

    /// Processor seconds the calling thread has used so far.
    static func threadSeconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
