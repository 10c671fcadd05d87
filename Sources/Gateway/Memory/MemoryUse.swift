import Foundation

/// How much memory there is, and how much of it is in use; bytes.
struct MemoryUse: Equatable {
    var total: Double
    var used: Double

    /// From 0 to 1, and beyond for a moment where a limit was lowered.
    var part: Double { used / total }

    /// What this process may have: that of the machine, or of the control group whose limit is the closest.
    ///
    /// A container has a limit of its own, and the machine's memory says nothing of it.
    ///
    /// - Parameter root: The folder below which the system's files are looked for.
    /// - Returns: nil where the system does not say.
    static func current(below root: String = "") -> MemoryUse? {
        guard let machine = text(root + "/proc/meminfo").flatMap({ MemoryUse(meminfo: $0) }) else { return nil }
        let groups = ControlGroup.all(of: text(root + "/proc/self/cgroup") ?? "")
            .compactMap { $0.memory(below: root) }
            .filter { $0.total < machine.total }
        return groups.reduce(machine) { $1.part > $0.part ? $1 : $0 }
    }

    /// Reads `MemTotal` and `MemAvailable` of /proc/meminfo.
    init?(meminfo: String) {
        let values = Self.values(meminfo)
        guard let total = values["MemTotal:"], let available = values["MemAvailable:"], total > 0 else { return nil }
        self.init(total: total * 1024, used: (total - available) * 1024)
    }

    init(total: Double, used: Double) {
        self.total = total
        self.used = used
    }

    /// The first number of each line by the line's first word.
    static func values(_ text: String) -> [Substring: Double] {
        var values: [Substring: Double] = [:]
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count >= 2, let value = Double(words[1]) else { continue }
            values[words[0]] = value
        }
        return values
    }

    static func text(_ path: String) -> String? {
        FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) }
    }
}
