import Glibc

/// Total and used memory, in bytes.
struct MemoryUsage: Equatable {
    var total: Double
    var used: Double

    /// The used fraction, from 0 to 1; above 1 for a moment after a limit was lowered.
    var usedFraction: Double { used / total }

    /// Returns the memory of the machine, or of the control group that is closest to its limit.
    ///
    /// In a container the group's limit applies, which the machine's figures do not show.
    ///
    /// - Parameter root: The folder that stands for the file system's root.
    /// - Returns: nil if the system does not provide the figures.
    static func current(below root: String = "") -> MemoryUsage? {
        guard let machine = text(root + "/proc/meminfo").flatMap({ MemoryUsage(meminfo: $0) }) else { return nil }
        let groups = ControlGroup.all(of: text(root + "/proc/self/cgroup") ?? "")
            .compactMap { $0.memory(below: root, lessThan: machine.total) }
        return groups.reduce(machine) { $1.usedFraction > $0.usedFraction ? $1 : $0 }
    }

    /// Reads `MemTotal` and `MemAvailable` of /proc/meminfo.
    init?(meminfo: String) {
        guard let total = Self.value("MemTotal:", in: meminfo), total > 0,
            let available = Self.value("MemAvailable:", in: meminfo)
        else { return nil }
        self.init(total: total * 1024, used: (total - available) * 1024)
    }

    init(total: Double, used: Double) {
        self.total = total
        self.used = used
    }

    /// Returns the number after the word at the start of a line.
    static func value(_ word: String, in text: String) -> Double? {
        for line in text.utf8.split(separator: UInt8(ascii: "\n")) {
            let words = line.split(separator: UInt8(ascii: " "), maxSplits: 2)
            if words.count >= 2, words[0].elementsEqual(word.utf8) { return Double(Substring(words[1])) }
        }
        return nil
    }

    /// Returns the content of a kernel file, read until its end because these files report no size.
    static func text(_ path: String) -> String? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 1 << 15) { space -> String? in
            var length = 0
            while length < space.count {
                let count = read(file, space.baseAddress?.advanced(by: length), space.count - length)
                if count == 0 { break }
                if count < 0 {
                    guard errno == EINTR else { return nil }
                    continue
                }
                length += count
            }
            return String(decoding: space[..<length], as: UTF8.self)
        }
    }
}

/// A Linux control group of this process, or one of its ancestors, with its memory figures.
struct ControlGroup: Equatable {
    /// The version of the interface (kernel documentation, "Control Group v2" and "Memory Resource Controller").
    enum Version {
        case one
        case two

        fileprivate var folder: String {
            switch self {
            case .one: "/sys/fs/cgroup/memory"
            case .two: "/sys/fs/cgroup"
            }
        }

        fileprivate var files: (limit: String, used: String, reclaimable: String) {
            switch self {
            case .one: ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
            case .two: ("memory.max", "memory.current", "inactive_file")
            }
        }
    }

    let version: Version
    /// The path below the version's folder; empty for the root, which is all that a container sees.
    let path: String

    /// Returns the groups of /proc/self/cgroup and all their ancestors, each of which may have a limit.
    static func all(of text: String) -> [ControlGroup] {
        text.split(separator: "\n").flatMap { line -> [ControlGroup] in
            let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard parts.count == 3 else { return [] }
            let version: Version
            if parts[0] == "0", parts[1].isEmpty {
                version = .two
            } else if parts[1].split(separator: ",").contains("memory") {
                version = .one
            } else {
                return []
            }
            // A path outside of the visible hierarchy is mapped to its root.
            let names = parts[2].split(separator: "/")
            guard !names.contains("..") else { return [ControlGroup(version: version, path: "")] }
            return (0...names.count).reversed().map { count in
                ControlGroup(version: version, path: names.prefix(count).map { "/\($0)" }.joined())
            }
        }
    }

    /// Returns the group's limit and usage; nil without a limit below `most`.
    ///
    /// The page cache of inactive files does not count as used, as in `MemAvailable`.
    func memory(below root: String, lessThan most: Double) -> MemoryUsage? {
        let folder = root + version.folder + path + "/"
        let files = version.files
        func number(_ name: String) -> Double? {
            MemoryUsage.text(folder + name).flatMap { Double($0.prefix { !$0.isWhitespace }) }
        }
        // No limit is `max`, or a number above any machine's memory.
        guard let limit = number(files.limit), limit > 0, limit < most else { return nil }
        guard let used = number(files.used) else { return nil }
        let reclaimable = MemoryUsage.text(folder + "memory.stat").flatMap {
            MemoryUsage.value(files.reclaimable, in: $0)
        }
        return MemoryUsage(total: limit, used: max(0, used - (reclaimable ?? 0)))
    }
}
