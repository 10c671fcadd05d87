import Foundation
import TestSupport
import Testing

@testable import Gateway

@Suite("Memory usage")
struct MemoryUsageTests {
    private static let gigabyte = Double(1 << 30)
    /// 4 GiB in total, 1 GiB of it in use.
    private static let meminfo = "MemTotal: 4194304 kB\nMemFree: 10 kB\nMemAvailable: 3145728 kB\n"

    /// Returns the usage for these system files.
    private func use(_ files: [String: String]) throws -> MemoryUsage? {
        let folder = try TemporaryFolder("memory")
        for (path, text) in files {
            let url = URL(fileURLWithPath: folder.file(path))
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            try Data(text.utf8).write(to: url)
        }
        return withExtendedLifetime(folder) { MemoryUsage.current(below: folder.path) }
    }

    private func use(group: String, _ files: [String: String]) throws -> MemoryUsage? {
        try use(files.merging(["proc/meminfo": Self.meminfo, "proc/self/cgroup": group]) { own, _ in own })
    }

    @Test("uses available memory, not free memory")
    func machine() throws {
        let use = try #require(MemoryUsage(meminfo: Self.meminfo))
        #expect(use.total == 4 * Self.gigabyte && use.used == Self.gigabyte && use.usedFraction == 0.25)
        #expect(MemoryUsage(meminfo: "MemFree: 5 kB") == nil)
    }

    @Test("reads this machine's usage")
    func currentMachine() throws {
        let use = try #require(MemoryUsage.current())
        #expect(use.usedFraction > 0 && use.usedFraction < 1)
    }

    @Test("without control groups, or without a limit, the machine's memory applies")
    func unlimited() throws {
        let machine = MemoryUsage(total: 4 * Self.gigabyte, used: Self.gigabyte)
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

    @Test("applies a container's limit, and excludes inactive page cache")
    func container() throws {
        let files = [
            "sys/fs/cgroup/memory.max": "1073741824\n", "sys/fs/cgroup/memory.current": "1073741824\n",
            "sys/fs/cgroup/memory.stat": "anon 1\ninactive_file 268435456\nactive_file 9\n",
        ]
        let limited = MemoryUsage(total: Self.gigabyte, used: 0.75 * Self.gigabyte)
        #expect(try use(group: "0::/\n", files) == limited)
        // The file may contain the host's path, which is not visible in the container.
        #expect(try use(group: "0::/docker/0123\n", files) == limited)
        #expect(try use(group: "0::/../..\n", files) == limited)
        #expect(try use(group: "no groups\n1:cpu:/\n", files)?.total == 4 * Self.gigabyte)
    }

    @Test("reads the version 1 interface among other controllers")
    func first() throws {
        let group = "11:cpu,cpuacct:/a\n5:memory:/docker/a\n0::/system.slice\n"
        let files = [
            "sys/fs/cgroup/memory/docker/a/memory.limit_in_bytes": "2147483648\n",
            "sys/fs/cgroup/memory/docker/a/memory.usage_in_bytes": "1610612736\n",
            "sys/fs/cgroup/memory/docker/a/memory.stat": "inactive_file 7\ntotal_inactive_file 536870912\n",
        ]
        #expect(try use(group: group, files) == MemoryUsage(total: 2 * Self.gigabyte, used: Self.gigabyte))
    }

    @Test("applies the fullest of nested groups, and the machine's memory for a higher limit")
    func nestedGroups() throws {
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

@Suite("Memory watermark")
struct MemoryMonitorTests {
    @Test("memory is short above 80 %, until it is below 75 %")
    func hysteresis() {
        var watch = MemoryMonitor()
        #expect(watch.update(0.79) == nil)
        #expect(watch.update(0.81) == true)
        #expect(watch.update(0.78) == nil)
        #expect(watch.update(0.74) == false)
        #expect(watch.update(0.79) == nil)
    }
}
