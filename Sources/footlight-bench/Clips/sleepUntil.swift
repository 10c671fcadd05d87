import Glibc
import Media

/// Blocks the calling thread until `moment`; returns at once when it has passed.
func sleepUntil(_ moment: MonotonicTime) {
    var time = timespec(
        tv_sec: Int(moment.nanoseconds / 1_000_000_000),
        tv_nsec: Int(moment.nanoseconds % 1_000_000_000)
    )
    while clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nil) == EINTR {}
}
