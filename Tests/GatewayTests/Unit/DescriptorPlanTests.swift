import FootlightTesting
import Foundation
@testable import Gateway
import RTMP
import Testing

@Suite("What the process's descriptors are for")
struct DescriptorPlanTests {
    @Test(
        "Viewers, waiting peers, hosts, mixers and the admin port together never take all",
        arguments: [
            300, 1_024, 4_096, 65_536, 1 << 20,
        ]
    )
    func sum(limit: Int) {
        let plan = DescriptorPlan(limit: limit, threads: 2, configuration: GatewayConfiguration())
        let given = plan.viewers + plan.waiting + plan.hosts + plan.mixers + plan.admin
        #expect(given + 64 + DescriptorPlan.spare <= limit, "\(plan)")
        #expect(plan.viewers >= limit / 4 || plan.viewers == GatewayConfiguration().wantedViewerConnections, "\(plan)")
        #expect(plan.hosts >= 4 && plan.mixers >= 20 && plan.waiting >= 16, "\(plan)")
        #expect(plan.gate.limit - plan.gate.viewerLimit == plan.waiting + plan.hosts)
    }

    @Test("With descriptors enough, the settings decide; one client never has more than half of what there is")
    func settings() {
        var configuration = GatewayConfiguration()
        configuration.maximumViewers = 1_000
        configuration.maximumHosts = 10
        let plan = DescriptorPlan(limit: 1 << 20, threads: 2, configuration: configuration)
        #expect(plan.viewers == 5_000 && plan.hosts == 10)
        #expect(configuration.mostOfOneClient(256, plan) == 256 && configuration.mostOfOneClient(0, plan) == nil)
        let small = DescriptorPlan(limit: 300, threads: 2, configuration: configuration)
        #expect(configuration.mostOfOneClient(256, small) == small.viewers / 2)
    }

    @Test("Refusals are one line a minute, with how many they were")
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

    @Test("A file that is there and cannot be opened is not made anew, and is said not to be readable")
    func unopened() throws {
        let folder = try TemporaryFolder("unopened")
        let directory = try DataDirectory(folder.path)
        let secret = try directory.secret("signing")
        // A link that leads to itself cannot be opened by anybody, root included.
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
