import Media
import Synchronization

/// A clock that a test moves by hand.
final class HandClock: MonotonicClock {
    private let time: Atomic<Int64>

    init(seconds: Double = 1000) {
        time = Atomic(Int64(seconds * 1e9))
    }

    var now: MonotonicTime { MonotonicTime(nanoseconds: time.load(ordering: .relaxed)) }

    func move(to moment: MonotonicTime) {
        time.store(moment.nanoseconds, ordering: .relaxed)
    }
}
