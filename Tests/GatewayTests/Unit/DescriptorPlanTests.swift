import Foundation
@testable import Gateway
import RTMP
import TestSupport
import Testing

@Suite("Division of file descriptors")
struct DescriptorPlanTests {
    @Test(
        "viewers, waiting peers, hosts, mixers and the admin port stay within the limit together",
        arguments: [
            300, 1_024, 4_096, 65_536, 1 << 20,
        ]
    )
    func sum(limit: Int) {
        let plan = DescriptorPlan(limit: limit, threads: 2, configuration: GatewayConfiguration())
        let given = plan.viewers + plan.waiting + plan.hosts + plan.mixers + plan.admin
        #expect(given + 64 + DescriptorPlan.spare <= limit, "\(plan)")
        #expect(plan.viewers >= limit / 4 || plan.viewers == GatewayConfiguration().desiredViewerConnections, "\(plan)")
        #expect(plan.hosts >= 4 && plan.mixers >= 20 && plan.waiting >= 16, "\(plan)")
        #expect(plan.gate.limit - plan.gate.viewerLimit == plan.waiting + plan.hosts)
    }

    @Test("the settings decide if there are enough descriptors, and one client has at most half of the viewers' share")
    func settings() {
        var configuration = GatewayConfiguration()
        configuration.maximumViewers = 1_000
        configuration.maximumHosts = 10
        let plan = DescriptorPlan(limit: 1 << 20, threads: 2, configuration: configuration)
        #expect(plan.viewers == 5_000 && plan.hosts == 10)
        #expect(configuration.perClientLimit(256, plan) == 256 && configuration.perClientLimit(0, plan) == nil)
        let small = DescriptorPlan(limit: 300, threads: 2, configuration: configuration)
        #expect(configuration.perClientLimit(256, small) == small.viewers / 2)
    }

    @Test("reports refusals once per minute with their number")
    func report() {
        var report = RefusalReport(every: 60)
        #expect(report.next(total: 0) == nil)
        #expect(report.next(total: 5) == 5)
        let within = (1...59).compactMap { report.next(total: 5 + UInt64($0)) }
        #expect(within.isEmpty)
        #expect(report.next(total: 100) == 95)
        for _ in 0..<100 { #expect(report.next(total: 100) == nil) }
        #expect(report.next(total: 101) == 1)
    }

    @Test("a file that exists but cannot be opened is not recreated")
    func unreadableFile() throws {
        let folder = try TemporaryFolder("unopened")
        let directory = try DataDirectory(folder.path)
        let secret = try directory.secret("signing")
        // A symbolic link to itself cannot be opened, not even by root.
        try FileManager.default.removeItem(atPath: directory.filePath("signing.key"))
        let path = directory.filePath("signing.key")
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: path)
        do {
            _ = try directory.secret("signing")
            Issue.record("a secret was made")
        } catch {
            #expect("\(error)".contains("signing.key cannot be read"), "\(error)")
        }
        #expect(secret.count == 32)
        #expect(try directory.read("nothing") == nil)
    }
}
