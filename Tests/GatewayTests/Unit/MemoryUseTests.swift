import FootlightTesting
import Foundation
import Testing

@testable import Gateway

@Suite("How much memory is in use")
struct MemoryUseTests {
    private static let gigabyte = Double(1 << 30)
    /// Four gigabytes, of which one is in use.
    private static let meminfo = "MemTotal: 4194304 kB\nMemFree: 10 kB\nMemAvailable: 3145728 kB\n"

    /// What is read where the system has these files.
    private func use(_ files: [String: String]) throws -> MemoryUse? {
        let folder = try TemporaryFolder("memory")
        for (path, text) in files {
            let url = URL(fileURLWithPath: folder.file(path))
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            try Data(text.utf8).write(to: url)
        }
        return withExtendedLifetime(folder) { MemoryUse.current(below: folder.path) }
    }

    private func use(group: String, _ files: [String: String]) throws -> MemoryUse? {
        try use(files.merging(["proc/meminfo": Self.meminfo, "proc/self/cgroup": group]) { own, _ in own })
    }

    @Test("what is available counts, not what is free")
    func machine() throws {
        let use = try #require(MemoryUse(meminfo: Self.meminfo))
        #expect(use.total == 4 * Self.gigabyte && use.used == Self.gigabyte && use.part == 0.25)
        #expect(MemoryUse(meminfo: "MemFree: 5 kB") == nil)
    }

    @Test("this machine answers with a part between nothing and all")
    func here() throws {
        let use = try #require(MemoryUse.current())
        #expect(use.part > 0 && use.part < 1)
    }

    @Test("without control groups, or with one that has no limit, it is the machine's")
    func unlimited() throws {
        let machine = MemoryUse(total: 4 * Self.gigabyte, used: Self.gigabyte)
        #expect(try use(["proc/meminfo": Self.meminfo]) == machine)
        let two = ["sys/fs/cgroup/memory.max": "max\n", "sys/fs/cgroup/memory.current": "4000000000\n"]
        #expect(try use(group: "0::/\n", two) == machine)
        let one = [
            "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
            "sys/fs/cgroup/memory/memory.usage_in_bytes": "4000000000\n",
        ]
        #expect(try use(group: "9:memory:/\n", one) == machine)
        #expect(try use(["proc/self/cgroup": "0::/\n"]) == nil)
    }

    @Test("a container's limit is followed, and files that were only read are not in use")
    func container() throws {
        let files = [
            "sys/fs/cgroup/memory.max": "1073741824\n", "sys/fs/cgroup/memory.current": "1073741824\n",
            "sys/fs/cgroup/memory.stat": "anon 1\ninactive_file 268435456\nactive_file 9\n",
        ]
        let limited = MemoryUse(total: Self.gigabyte, used: 0.75 * Self.gigabyte)
        #expect(try use(group: "0::/\n", files) == limited)
        // The path of the machine may be shown, of which nothing is to be seen in the container.
        #expect(try use(group: "0::/docker/0123\n", files) == limited)
        #expect(try use(group: "0::/../..\n", files) == limited)
        #expect(try use(group: "no groups\n1:cpu:/\n", files)?.total == 4 * Self.gigabyte)
    }

    @Test("the older interface, among other controllers")
    func first() throws {
        let group = "11:cpu,cpuacct:/a\n5:memory:/docker/a\n0::/system.slice\n"
        let files = [
            "sys/fs/cgroup/memory/docker/a/memory.limit_in_bytes": "2147483648\n",
            "sys/fs/cgroup/memory/docker/a/memory.usage_in_bytes": "1610612736\n",
            "sys/fs/cgroup/memory/docker/a/memory.stat": "inactive_file 7\ntotal_inactive_file 536870912\n",
        ]
        #expect(try use(group: group, files) == MemoryUse(total: 2 * Self.gigabyte, used: Self.gigabyte))
    }

    @Test("of a group in a group, the one that is fuller; of a limit above the machine's, the machine")
    func around() throws {
        func files(inner: Int, outer: Int) -> [String: String] {
            [
                "sys/fs/cgroup/a.slice/b.service/memory.max": "\(inner)",
                "sys/fs/cgroup/a.slice/b.service/memory.current": "536870912",
                "sys/fs/cgroup/a.slice/memory.max": "\(outer)",
                "sys/fs/cgroup/a.slice/memory.current": "1610612736",
            ]
        }
        let group = "0::/a.slice/b.service\n"
        #expect(try use(group: group, files(inner: 1 << 30, outer: 2 << 30))?.total == 2 * Self.gigabyte)
        #expect(try use(group: group, files(inner: 600 << 20, outer: 2 << 30))?.total == Double(600 << 20))
        #expect(try use(group: group, files(inner: 8 << 30, outer: 8 << 30))?.total == 4 * Self.gigabyte)
    }
}
