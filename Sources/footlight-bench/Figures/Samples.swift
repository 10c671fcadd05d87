import Glibc

/// A set of measured values.
struct Samples {
    private(set) var values: [Double] = []

    init(_ values: [Double] = []) {
        self.values = values
    }

    mutating func add(_ value: Double) {
        values.append(value)
    }

    var isEmpty: Bool { values.isEmpty }
    var median: Double { percentile(50) }
    var largest: Double { values.max() ?? .nan }

    /// Returns a percentile by the nearest-rank method; NaN without values.
    func percentile(_ percent: Double) -> Double {
        guard !values.isEmpty else { return .nan }
        let sorted = values.sorted()
        let rank = Int((percent / 100 * Double(sorted.count)).rounded(.up)) - 1
        return sorted[min(max(rank, 0), sorted.count - 1)]
    }
}

/// The processor seconds of processes, user and system together.
enum ProcessorTime {
    /// The time of this process, all threads.
    static var own: Double { usage(RUSAGE_SELF.rawValue) }

    /// The time of the child processes that have ended and were waited for.
    static var endedChildren: Double { usage(RUSAGE_CHILDREN.rawValue) }

    private static func usage(_ who: __rusage_who_t) -> Double {
        var usage = rusage()
        guard getrusage(who, &usage) == 0 else { return .nan }
        return seconds(usage.ru_utime) + seconds(usage.ru_stime)
    }

    private static func seconds(_ time: timeval) -> Double {
        Double(time.tv_sec) + Double(time.tv_usec) / 1e6
    }
}
