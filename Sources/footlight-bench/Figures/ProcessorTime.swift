import Glibc

/// Processor seconds, user and system together.
enum ProcessorTime {
    /// Of this process, all threads.
    static var own: Double { usage(RUSAGE_SELF.rawValue) }

    /// Of the children that have ended and were waited for.
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
