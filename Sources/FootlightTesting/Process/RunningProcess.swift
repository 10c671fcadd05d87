import Foundation
import Glibc

/// What the system tells about the processes of the machine (`/proc`).
public enum RunningProcess {
    /// The ids of all processes; zombies are among them.
    public static func all() -> [Int32] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return names.compactMap { Int32($0) }.sorted()
    }

    /// The arguments a process was started with; empty for a zombie or a process that is gone.
    public static func arguments(of pid: Int32) -> [String] {
        strings("/proc/\(pid)/cmdline")
    }

    /// The user and system time a process has used, in seconds; nil when it is gone.
    public static func processorSeconds(of pid: Int32) -> Double? {
        guard let fields = statistics(of: pid), fields.count > 12,
            let user = Double(fields[11]), let system = Double(fields[12])
        else { return nil }
        return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    /// The seconds for which the machine's processors had nothing to do since it started, all of them together (proc(5));
    /// nil where the system does not tell.
    public static func idleSeconds() -> Double? {
        let text = String(decoding: FileManager.default.contents(atPath: "/proc/stat") ?? Data(), as: UTF8.self)
        let fields = text.prefix { $0 != "\n" }.split(separator: " ").dropFirst().compactMap { Double($0) }
        guard fields.count > 4 else { return nil }
        // Waiting for a disk is no work either.
        return (fields[3] + fields[4]) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    /// The resident memory of a process in bytes; nil when it is gone.
    public static func residentBytes(of pid: Int32) -> Int? {
        let text = String(decoding: FileManager.default.contents(atPath: "/proc/\(pid)/statm") ?? Data(), as: UTF8.self)
        let fields = text.split(separator: " ")
        guard fields.count > 1, let pages = Int(fields[1]) else { return nil }
        return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
    }

    /// Whether a process runs; false for a zombie.
    public static func isAlive(_ pid: Int32) -> Bool {
        guard let state = statistics(of: pid)?.first else { return false }
        return state != "Z" && state != "X"
    }

    /// The processes alive whose environment at their start contained `variable`, written `NAME=value`.
    static func carrying(_ variable: String) -> [Int32] {
        all().filter { strings("/proc/\($0)/environ").contains(variable) && isAlive($0) }
    }

    /// The processes alive that a process started, and those that they started, as far as their parents live.
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

    /// The fields of `/proc/PID/stat` from the state on, which is the third (proc(5)).
    private static func statistics(of pid: Int32) -> [Substring]? {
        guard let data = FileManager.default.contents(atPath: "/proc/\(pid)/stat") else { return nil }
        // The second field is the name in parentheses, which may hold spaces and parentheses itself.
        let text = String(decoding: data, as: UTF8.self)
        guard let end = text.lastIndex(of: ")") else { return nil }
        return text[text.index(after: end)...].split(separator: " ")
    }

    private static func strings(_ path: String) -> [String] {
        let data = FileManager.default.contents(atPath: path) ?? Data()
        return data.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
    }
}
