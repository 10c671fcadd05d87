import Glibc

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
            .compactMap { $0.memory(below: root, lessThan: machine.total) }
        return groups.reduce(machine) { $1.part > $0.part ? $1 : $0 }
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

    /// The number behind the word that a line begins with.
    static func value(_ word: String, in text: String) -> Double? {
        for line in text.utf8.split(separator: UInt8(ascii: "\n")) {
            let words = line.split(separator: UInt8(ascii: " "), maxSplits: 2)
            if words.count >= 2, words[0].elementsEqual(word.utf8) { return Double(Substring(words[1])) }
        }
        return nil
    }

    /// What a file of the kernel's says; read as a whole, for these have no size.
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
