import FootlightModel
import FootlightTesting
import Foundation
import Logging
import Media
import Synchronization
import TestSupport
import Testing

@testable import Gateway
@testable import Stage

@Suite("Figures of the machine and the gateway's processes")
struct SystemFiguresTests {
    /// Recorded on a machine of two cores.
    private static let stat = """
        cpu  7183941 1208 1412312 30150227 148310 0 61023 20512 0 0
        cpu0 3590000 600 700000 15070000 74000 0 30000 10000 0 0
        intr 412345678 9 0 0
        ctxt 1234567890

        """
    private static let process =
        "2710 (footlight) S 1 2710 2710 0 -1 4194560 91234 0 12 0 48211 7025 0 0 20 0 23 0 "
        + "1834511 2147483648 46080 18446744073709551615 1 1 0 0 0 0 0 4096 17634 0 0 0 17 1 0 0 0 0 0 0 0 0 0 0 0 0 0"

    @Test("reads the busy and the total time of all cores; a wait for the disk is idle time")
    func machine() throws {
        let times = try #require(ProcessorTimes(stat: Self.stat))
        #expect(times.total == 7_183_941 + 1208 + 1_412_312 + 30_150_227 + 148_310 + 61_023 + 20_512)
        #expect(times.busy == times.total - 30_150_227 - 148_310)
        // A kernel before 2.5.41 has four fields.
        #expect(ProcessorTimes(stat: "cpu  1 2 3 4\n") == ProcessorTimes(busy: 6, total: 10))
        for text in ["", "cpu\n", "cpu  1 2 x 4\n", "cpu0 1 2 3 4\n", "intr 5\n"] {
            #expect(ProcessorTimes(stat: text) == nil, "\(text)")
        }
        let largest = "cpu  18446744073709551615 18446744073709551615 1 1\n"
        _ = ProcessorTimes(stat: largest)
    }

    @Test("the use of the machine is the busy part of the time between two readings")
    func use() {
        let first = ProcessorTimes(busy: 100, total: 1000)
        #expect(ProcessorTimes(busy: 176, total: 1200).use(since: first) == 0.38)
        #expect(first.use(since: first) == nil)
        #expect(ProcessorTimes(busy: 90, total: 1100).use(since: first) == 0)
        #expect(ProcessorTimes(busy: 400, total: 1200).use(since: first) == 1)
    }

    @Test("reads the time and the memory of a process, whatever its name is")
    func process() throws {
        let times = try #require(ProcessTimes(stat: Self.process))
        #expect(times.ticks == 48_211 + 7025 && times.pages == 46_080)
        #expect(times.bytes == 46_080 * Int(ProcessTimes.pageSize))
        let odd = Self.process.replacing("(footlight)", with: "(a) b) S (9 9 9)")
        #expect(ProcessTimes(stat: odd) == times)
        for text in ["", "1 (x", "1 (x) S 1 2", "1 (x) S" + String(repeating: " x", count: 40)] {
            #expect(ProcessTimes(stat: text) == nil, "\(text)")
        }
        let later = ProcessTimes(ticks: times.ticks + UInt64(ProcessTimes.ticksPerSecond), pages: 0)
        #expect(later.cores(since: times, seconds: 2) == 0.5)
        #expect(times.cores(since: later, seconds: 2) == nil && later.cores(since: times, seconds: 0) == nil)
    }

    @Test("computes the figures between two readings; a restarted mixer has no processor time yet")
    func figures() throws {
        let start = MonotonicTime(nanoseconds: 1_000_000_000)
        let second = UInt64(ProcessTimes.ticksPerSecond)
        func mixer(_ pid: Int32, _ seconds: UInt64) -> SystemMonitor.Sample.Mixer {
            .init(pid: pid, times: ProcessTimes(ticks: seconds * second, pages: 2))
        }
        let earlier = SystemMonitor.Sample(
            time: start,
            machine: ProcessorTimes(busy: 0, total: 0),
            gateway: ProcessTimes(ticks: 0, pages: 1),
            mixers: ["show": mixer(7, 1), "other": mixer(8, 1)]
        )
        let later = SystemMonitor.Sample(
            time: start.advanced(seconds: 4),
            machine: ProcessorTimes(busy: 5, total: 10),
            gateway: ProcessTimes(ticks: second, pages: 3),
            mixers: ["show": mixer(7, 3), "other": mixer(9, 3), "new": mixer(10, 1)]
        )
        let figures = SystemFigures(from: earlier, to: later, cores: 2)
        #expect(figures.machine == 0.5 && figures.gateway == 0.125)
        #expect(figures.gatewayMemory == 3 * Int(ProcessTimes.pageSize))
        #expect(figures.mixers.map(\.room) == ["new", "other", "show"])
        #expect(figures.mixers.map(\.cores) == [nil, nil, 0.5] && figures.mixers.map(\.pid) == [10, 9, 7])
    }

    @Test("an output's opening burst does not count; its rate is right from the first reading that has one")
    func transfers() async throws {
        let clock = ManualClock()
        let pushed = Mutex<[String: UInt64]>([:])
        let monitor = SystemMonitor(folders: [], clock: clock) {
            SystemMonitor.Counters(pushed: pushed.withLock { $0 })
        }
        monitor.measureTransfers()
        clock.advance(by: .seconds(4))
        // Two seconds of the program at once.
        pushed.withLock { $0["show main"] = 1_000_000 }
        #expect(await monitor.figures().pushed == nil)
        clock.advance(by: .seconds(1))
        pushed.withLock { $0["show main"] = 1_500_000 }
        monitor.measureTransfers()
        let later = SystemMonitor(folders: [], clock: clock) {
            SystemMonitor.Counters(pushed: pushed.withLock { $0 })
        }
        later.measureTransfers()
        clock.advance(by: .seconds(5))
        pushed.withLock { $0["show main"] = 4_000_000 }
        // The first reader of all.
        #expect(await later.figures().pushed == 500_000)
    }

    @Test("a rate is of the sources that were read before, each since it began; one that counts anew has just begun")
    func rates() {
        var rate = TransferRate()
        var now = MonotonicTime(nanoseconds: 1_000_000_000)
        func after(_ seconds: Double, _ bytes: [String: UInt64]) -> Double? {
            now = now.advanced(seconds: seconds)
            return rate.add(bytes, at: now)
        }
        #expect(after(0, [:]) == 0 && after(2, ["a": 0]) == 0)
        #expect(after(2, ["a": 5000]) == nil && after(0.5, ["a": 5500]) == nil)
        #expect(after(1.5, ["a": 7000]) == 1000)
        #expect(after(2, ["a": 9000, "b": 800]) == 1000)
        #expect(after(2, ["a": 11_000, "b": 1000]) == 1100)
        // One has ended, one was restarted.
        #expect(after(2, ["b": 500]) == nil)
        #expect(after(2, ["b": 700]) == 100 && after(2, [:]) == 0)
        // A pause is part of the rate, until it is too long ago.
        #expect(after(1, ["c": 100]) == nil && after(10, ["c": 1100]) == 100 && after(10, ["c": 1100]) == 0)
        #expect(after(100, ["c": 2000]) == nil)
    }

    @Test("reads this machine once for many readers, and finds its own load")
    func thisMachine() async throws {
        let folder = try TemporaryFolder("system")
        let pid = ProcessInfo.processInfo.processIdentifier
        let monitor = SystemMonitor(folders: [("data", folder.path), ("recordings", folder.path)]) {
            SystemMonitor.Counters(mixers: ["show": pid])
        }
        let figures = await withTaskGroup(of: SystemFigures.self) { group in
            for _ in 0..<20 { group.addTask { await monitor.figures() } }
            return await group.reduce(into: [SystemFigures]()) { $0.append($1) }
        }
        #expect(Set(figures.map(\.machine)).count == 1 && Set(figures.map(\.descriptors)).count == 1)
        let one = try #require(figures.first)
        for use in [one.machine, one.gateway] { #expect((0...1).contains(try #require(use))) }
        #expect(one.gatewayMemory ?? 0 > 1 << 20 && one.mixers.map(\.pid) == [pid])
        #expect(one.descriptors ?? 0 > 3 && one.descriptorLimit > 100)
        #expect(one.disks.map(\.holds) == [["data", "recordings"]] && !one.isDiskLate)
        #expect(one.disks.first?.total ?? 0 > 1 << 20)
    }
}

@Suite("What the gateway says of its machine")
struct SystemFindingsTests {
    private static let gigabyte: UInt64 = 1_000_000_000

    func findings(
        link: Int? = nil,
        viewers: Int = 0,
        certificate: SystemCertificateResource? = nil,
        webhooks: Int = 0,
        degradations: [String: ProgramDiagnosis] = [:],
        _ change: (inout SystemFigures) -> Void = { _ in }
    ) -> [SystemFindingResource] {
        let sample = SystemMonitor.Sample(time: .now())
        var figures = SystemFigures(from: sample, to: sample, cores: 2)
        figures.machine = 0.38
        figures.gateway = 0.12
        figures.memory = MemoryUsage(total: 8e9, used: 3.12e9)
        figures.descriptors = 120
        figures.descriptorLimit = 1024
        figures.disks = [DiskSpace(holds: ["data", "recordings"], free: 12 * Self.gigabyte, total: 40 * Self.gigabyte)]
        figures.sent = 0
        change(&figures)
        return SystemFindings(
            figures: figures,
            viewers: viewers,
            link: link,
            reserve: 256 << 20,
            degradations: degradations,
            certificate: certificate,
            failingWebhooks: webhooks
        ).all
    }

    private func finding(_ subject: String, in all: [SystemFindingResource]) -> String {
        all.filter { $0.subject == subject }
            .map { "\($0.level) \($0.message)" + ($0.advice.isEmpty ? "" : " → \($0.advice)") }
            .joined(separator: "; ")
    }

    @Test("a machine with room for more is fine in every respect")
    func fine() {
        let all = findings()
        #expect(all.allSatisfy { $0.level == SystemFindingLevel.ok && $0.advice.isEmpty })
        #expect(finding("processor", in: all) == "ok CPU 38 % of 2 cores, 12 % by the gateway itself")
        #expect(finding("memory", in: all) == "ok Memory 3.1 GB of 8.0 GB in use")
        #expect(finding("disk", in: all) == "ok The disk of the data folder has 12.0 GB free of 40.0 GB")
        #expect(finding("descriptors", in: all) == "ok 120 of 1024 open files and connections")
        #expect(finding("network", in: all) == "ok No viewers at present")
    }

    @Test("each shortage says what to do, and more of it is a problem")
    func shortages() {
        func level(_ subject: String, _ change: (inout SystemFigures) -> Void) -> [String] {
            let found = findings(change).filter { $0.subject == subject }
            for one in found where one.level != SystemFindingLevel.ok { #expect(!one.advice.isEmpty, "\(one)") }
            return found.map(\.level.rawValue)
        }
        #expect(level("processor") { $0.machine = 0.86 } == ["warning"])
        #expect(level("processor") { $0.machine = 0.99 } == ["problem"])
        #expect(level("processor") { $0.machine = nil } == ["ok"])
        #expect(level("memory") { $0.memory = MemoryUsage(total: 100, used: 80) } == ["warning"])
        #expect(level("memory") { $0.memory = MemoryUsage(total: 100, used: 95) } == ["problem"])
        #expect(level("descriptors") { $0.descriptors = 900 } == ["warning"])
        #expect(level("descriptors") { $0.descriptors = 1020 } == ["problem"])
        #expect(level("disk") { $0.disks[0].free = 1 << 30 } == ["warning"])
        #expect(level("disk") { $0.disks[0].free = 1 << 20 } == ["problem"])
        #expect(level("disk") { $0.isDiskLate = true } == ["ok", "problem"])
    }

    @Test("estimates how many viewers a link carries, from what each receives")
    func link() {
        let rate = 3.1e6 / 8 * 3
        let unnamed = findings(viewers: 3) { $0.sent = rate }
        #expect(
            finding("network", in: unnamed)
                == "ok 9.3 Mb/s to 3 viewers: at 3.1 Mb/s each, 1 Gb/s carries about 320 viewers"
        )
        let named = findings(link: 1000, viewers: 3) { $0.sent = rate }
        #expect(
            finding("network", in: named)
                == "ok 9.3 Mb/s to 3 viewers, 3.1 Mb/s each: the link of 1 Gb/s carries about 310 more"
        )
        let full = findings(link: 10, viewers: 3) { $0.sent = rate }
        #expect(
            finding("network", in: full).hasPrefix("warning 9.3 Mb/s to 3 viewers, 3.1 Mb/s each: the link of 10.0")
        )
        // Three times as much goes to outputs, which is not left for viewers.
        let pushing = findings(link: 50, viewers: 3) { ($0.sent, $0.pushed) = (rate, 3 * rate) }
        #expect(
            finding("network", in: pushing)
                == "ok 27.9 Mb/s to outputs, 9.3 Mb/s to 3 viewers, 3.1 Mb/s each: the link of 50.0 Mb/s carries about 4 more"
        )
        let unseen = findings(link: 30) { ($0.sent, $0.pushed) = (0, 3 * rate) }
        #expect(finding("network", in: unseen).hasPrefix("warning No viewers at present, 27.9 Mb/s to outputs → "))
        let over = LinkEstimate(bytesPerSecond: 2e6, viewers: 2, link: 10)
        #expect(over.moreViewers == 0 && over.use == 1.6)
        let idle = LinkEstimate(bytesPerSecond: 0, viewers: 5, link: 100)
        #expect(idle.moreViewers == nil && idle.sentence == "0.0 Mb/s to 5 viewers")
        #expect(LinkEstimate(bytesPerSecond: 1e6, viewers: 1, link: 2500).sentence.contains("link of 2.5 Gb/s"))
        #expect(findings { $0.sent = nil }.contains { $0.message == "0 viewers" })
    }

    @Test("names mixers, certificates and webhooks that need attention")
    func others() {
        let mixer = SystemFigures.Mixer(room: "show", pid: 7, cores: 0.72, memory: 180_000_000)
        let calm = findings { $0.mixers = [mixer] }
        #expect(finding("mixer", in: calm) == "ok Mixer of show: 0.7 cores, 180 MB, full quality")
        let late = findings(degradations: [
            "show": .init(level: 2, message: "Small tiles stand still", advice: "Remove", values: [:])
        ]) {
            $0.mixers = [mixer]
        }
        #expect(
            finding("mixer", in: late) == "warning Mixer of show: 0.7 cores, 180 MB. Small tiles stand still → Remove"
        )
        func certificate(_ days: Int) -> String {
            let one = SystemCertificateResource(names: ["live.example"], expiresAt: Timestamp(0), daysLeft: days)
            return finding("certificate", in: findings(certificate: one))
        }
        #expect(certificate(63) == "ok The certificate for live.example is good for 63 days")
        #expect(certificate(13).hasPrefix("warning The certificate for live.example is good for 13 days → Renew it"))
        #expect(certificate(1).hasPrefix("problem The certificate for live.example is good for 1 day → Renew it"))
        #expect(certificate(-1) == "problem The certificate for live.example has expired → Renew it")
        #expect(finding("webhooks", in: findings(webhooks: 1)).hasPrefix("warning A webhook fails → "))
        #expect(finding("webhooks", in: findings()).isEmpty)
    }

    @Test("every reason not to be ready has an advice")
    func advice() {
        let reasons: [Health.Reason] = [
            .draining, .memory, .eventLoops, .disk, .dataFolder, .mixers, .connections, .store("rooms"),
        ]
        for reason in reasons {
            #expect(Health.Words.about(reason.name).map(\.advice)?.isEmpty == false, "\(reason.name)")
        }
        #expect(Health.Words.about("later") == nil)
    }
}

@Suite("Recent events")
struct RecentEventsTests {
    @Test("returns notices and worse by severity and room, the latest first, and only so many")
    func filters() {
        let events = RecentEvents()
        events.record(.info, "unseen", metadata: [:], logger: "a")
        events.record(.notice, "first", metadata: ["room": "show"], logger: "a")
        events.record(.error, "second", metadata: ["room": "other"], logger: "b")
        events.record(.warning, "third", metadata: [:], logger: "a")
        #expect(events.events(from: "notice", room: nil).map(\.message) == ["third", "second", "first"])
        #expect(events.events(from: "warning", room: nil).map(\.message) == ["third", "second"])
        #expect(events.events(from: "notice", room: "show").map(\.message) == ["first"])
        #expect(events.events(from: "error", room: "show").isEmpty)
        for number in 0..<(RecentEvents.capacity + 10) {
            events.record(.notice, "\(number)", metadata: [:], logger: "a")
        }
        let all = events.events(from: "notice", room: nil).map(\.message)
        #expect(all.count == RecentEvents.capacity && all.first == "\(RecentEvents.capacity + 9)" && all.last == "10")
    }

    @Test("keeps no secret, and no more than the beginning of long texts")
    func bounds() throws {
        let events = RecentEvents()
        events.record(
            .notice,
            "\(String(repeating: "m", count: 9000))",
            metadata: [
                "code": .stringConvertible(LogSecret(description: "ABCD-EFGH")), "room": "thursday",
                "long": "\(String(repeating: "v", count: 9000))",
            ],
            logger: "a"
        )
        let event = try #require(events.events(from: "notice", room: "thursday").first)
        #expect(event.metadata["code"] == "***" && event.message.count == 500 && event.metadata["long"]?.count == 500)
    }
}
