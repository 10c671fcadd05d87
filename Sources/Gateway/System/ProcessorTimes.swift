import Glibc

/// The processor time of the whole machine since its start, of all cores together, in clock ticks.
struct ProcessorTimes: Equatable {
    var busy: UInt64
    var total: UInt64

    init(busy: UInt64, total: UInt64) {
        self.busy = busy
        self.total = total
    }

    /// Reads the first line of /proc/stat (proc_stat(5)); nil for other text.
    ///
    /// Time of guests is part of user time already. A core that waits for a disk is idle.
    init?(stat: String) {
        guard let line = stat.split(separator: "\n", maxSplits: 1).first, line.hasPrefix("cpu ") else { return nil }
        let fields = line.split(separator: " ").dropFirst().prefix(8).map { UInt64($0) }
        let times = fields.compactMap(\.self)
        guard times.count == fields.count, times.count >= 4 else { return nil }
        let total = times.reduce(0, &+)
        let idle = times[3] &+ (times.count > 4 ? times[4] : 0)
        self.init(busy: total - min(idle, total), total: total)
    }

    /// Returns the busy part of the time since an earlier reading, from 0 to 1; nil if no time has passed.
    func use(since earlier: ProcessorTimes) -> Double? {
        guard total > earlier.total else { return nil }
        // The kernel's count of idle time may go back a little.
        return min(Double(busy - min(earlier.busy, busy)) / Double(total - earlier.total), 1)
    }
}

/// The processor time and the memory of one process.
struct ProcessTimes: Equatable {
    /// The processor time since the start of the process, in clock ticks.
    var ticks: UInt64
    /// The resident memory, in pages.
    var pages: UInt64

    init(ticks: UInt64, pages: UInt64) {
        self.ticks = ticks
        self.pages = pages
    }

    /// Reads /proc/PID/stat (proc_pid_stat(5)); nil for other text.
    init?(stat: String) {
        // The name in parentheses may have spaces and parentheses itself.
        guard let end = stat.lastIndex(of: ")") else { return nil }
        // From the third field on, the state of the process.
        let fields = stat[stat.index(after: end)...].split(whereSeparator: \.isWhitespace)
        guard fields.count > 21, let user = UInt64(fields[11]), let system = UInt64(fields[12]),
            let pages = UInt64(fields[21])
        else { return nil }
        self.init(ticks: user &+ system, pages: pages)
    }

    /// Clock ticks per second, in which the kernel tells processor times.
    static let ticksPerSecond = Double(max(sysconf(Int32(_SC_CLK_TCK)), 1))
    /// Bytes of a page.
    static let pageSize = UInt64(max(sysconf(Int32(_SC_PAGESIZE)), 1))

    /// Returns the cores in use since an earlier reading.
    func cores(since earlier: ProcessTimes, seconds: Double) -> Double? {
        guard seconds > 0, ticks >= earlier.ticks else { return nil }
        return Double(ticks - earlier.ticks) / Self.ticksPerSecond / seconds
    }

    /// The resident memory in bytes.
    var bytes: Int { Int(clamping: pages.multipliedReportingOverflow(by: Self.pageSize).partialValue) }
}

/// The open descriptors of this process.
enum OpenDescriptors {
    /// Counts the open descriptors; nil if the system does not tell.
    static func count() -> Int? {
        guard let folder = opendir("/proc/self/fd") else { return nil }
        defer { closedir(folder) }
        var count = 0
        while let entry = readdir(folder) {
            // A dot is the first character of the two entries that are no descriptors.
            if entry.pointee.d_name.0 != CChar(UInt8(ascii: ".")) { count += 1 }
        }
        // The descriptor of the folder itself is closed again.
        return max(count - 1, 0)
    }
}
