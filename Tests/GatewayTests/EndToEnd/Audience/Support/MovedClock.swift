import Media
import Synchronization

/// The system's clock, put forward by a test as far as it likes.
final class MovedClock: MonotonicClock {
    private let lead = Atomic<Int64>(0)

    var now: MonotonicTime {
        MonotonicTime(nanoseconds: MonotonicTime.now().nanoseconds + lead.load(ordering: .relaxed))
    }

    func putForward(seconds: Double) {
        lead.add(Int64(seconds * 1e9), ordering: .relaxed)
    }
}
