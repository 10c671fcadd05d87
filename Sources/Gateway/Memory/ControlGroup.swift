/// A control group of Linux that this process is in, or one around it, as far as memory goes.
struct ControlGroup: Equatable {
    /// Which of the two interfaces it has (kernel documentation, "Control Group v2" and "Memory Resource Controller").
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
    /// Below the folder of its version; empty for the outermost, which is all that a container sees of its own.
    let path: String

    /// The groups that /proc/self/cgroup names, and all around them: each may have a limit.
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
            // A path that leads out of what is to be seen here is the outermost group.
            let names = parts[2].split(separator: "/")
            guard !names.contains("..") else { return [ControlGroup(version: version, path: "")] }
            return (0...names.count).reversed().map { count in
                ControlGroup(version: version, path: names.prefix(count).map { "/\($0)" }.joined())
            }
        }
    }

    /// What the group may have and has; nil where nothing limits it below `most`.
    ///
    /// Files that were read lie in memory until somebody needs it, and so are not in use, as `MemAvailable` has it.
    func memory(below root: String, lessThan most: Double) -> MemoryUse? {
        let folder = root + version.folder + path + "/"
        let files = version.files
        func number(_ name: String) -> Double? {
            MemoryUse.text(folder + name).flatMap { Double($0.prefix { !$0.isWhitespace }) }
        }
        // Without a limit there is the word `max`, or a number that no machine reaches.
        guard let limit = number(files.limit), limit > 0, limit < most else { return nil }
        guard let used = number(files.used) else { return nil }
        let reclaimable = MemoryUse.text(folder + "memory.stat").flatMap {
            MemoryUse.value(files.reclaimable, in: $0)
        }
        return MemoryUse(total: limit, used: max(0, used - (reclaimable ?? 0)))
    }
}
