import Foundation
import Glibc

/// Information about the processes of the machine (`/proc`).
public enum RunningProcess {
    /// Returns the IDs of all processes, including zombies.
    public static func all() -> [Int32] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return names.compactMap { Int32($0) }.sorted()
    }

    /// Returns the arguments of a process; empty for a zombie or a process that is gone.
    public static func arguments(of pid: Int32) -> [String] {
        strings("/proc/\(pid)/cmdline")
    }

    /// Returns the user and system time of a process in seconds; nil if it is gone.
    public static func processorSeconds(of pid: Int32) -> Double? {
        guard let fields = statistics(of: pid), fields.count > 12,
            let user = Double(fields[11]), let system = Double(fields[12])
        else { return nil }
        return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    /// Returns the total idle time of all processors since the machine started in seconds (proc(5)); nil if
    /// unavailable.
    public static func idleSeconds() -> Double? {
        let text = String(decoding: FileManager.default.contents(atPath: "/proc/stat") ?? Data(), as: UTF8.self)
        let fields = text.prefix { $0 != "\n" }.split(separator: " ").dropFirst().compactMap { Double($0) }
        guard fields.count > 4 else { return nil }
        // I/O wait counts as idle.
        return (fields[3] + fields[4]) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    /// Returns the resident memory of a process in bytes; nil if it is gone.
    public static func residentBytes(of pid: Int32) -> Int? {
        let text = String(decoding: FileManager.default.contents(atPath: "/proc/\(pid)/statm") ?? Data(), as: UTF8.self)
        let fields = text.split(separator: " ")
        guard fields.count > 1, let pages = Int(fields[1]) else { return nil }
        return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
    }

    /// Returns whether a process is alive; false for a zombie.
    public static func isAlive(_ pid: Int32) -> Bool {
        guard let state = statistics(of: pid)?.first else { return false }
        return state != "Z" && state != "X"
    }

    /// Returns the live processes whose initial environment contains `variable`, written `NAME=value`.
    static func carrying(_ variable: String) -> [Int32] {
        all().filter { strings("/proc/\($0)/environ").contains(variable) && isAlive($0) }
    }

    /// Returns the live descendants of a process, as far as their parents are alive.
    static func descendants(of pid: Int32) -> [Int32] {
        var children: [Int32: [Int32]] = [:]
        for other in all() {
            guard let fields = statistics(of: other), fields.count > 1, fields[0] != "Z", fields[0] != "X",
                let parent = Int32(fields[1])
            else { continue }
            children[parent, default: []].append(other)
        }
        var found: [Int32] = []
        var next = [pid]
        while let parent = next.popLast() {
            let own = children.removeValue(forKey: parent) ?? []
            found += own
            next += own
        }
        return found
    }

    /// Returns the fields of `/proc/PID/stat` from the third, the state (proc(5)).
    private static func statistics(of pid: Int32) -> [Substring]? {
        guard let data = FileManager.default.contents(atPath: "/proc/\(pid)/stat") else { return nil }
        // The second field is the name in parentheses, which may contain spaces and parentheses.
        let text = String(decoding: data, as: UTF8.self)
        guard let end = text.lastIndex(of: ")") else { return nil }
        return text[text.index(after: end)...].split(separator: " ")
    }

    private static func strings(_ path: String) -> [String] {
        let data = FileManager.default.contents(atPath: path) ?? Data()
        return data.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
    }
}
