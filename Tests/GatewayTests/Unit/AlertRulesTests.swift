import Foundation
import TestSupport
import Testing

@Suite("Prometheus alert rules", .enabled(if: TestRun.isFull))
struct AlertRulesTests {
    private static let cases = "deploy/prometheus/footlight-rules.test.yml"

    @Test("promtool accepts the rule tests")
    func cases() async throws {
        let tool = try ChildProcess(["promtool", "test", "rules", ProjectFile.path(Self.cases)])
        let exit = try await tool.wait(.seconds(20))
        #expect(exit == .code(0), "\(tool.standardOutput)\(tool.standardError)")
    }

    @Test("each alert has a test in which it fires and one in which it does not")
    func coverage() throws {
        let rules = try ProjectFile.text("deploy/prometheus/footlight-rules.yml")
        let cases = try ProjectFile.text(Self.cases).components(separatedBy: "\n  - name: ")
        let alerts = rules.matches(of: /- alert: (\w+)/).map { String($0.output.1) }
        #expect(alerts.count > 10)
        for alert in alerts {
            let blocks = cases.flatMap { $0.components(separatedBy: "      - eval_time: ").dropFirst() }
                .filter { $0.contains("alertname: \(alert)\n") }
            #expect(blocks.contains { $0.contains("exp_labels") }, "\(alert) fires in no case")
            #expect(blocks.contains { $0.contains("exp_alerts: []") }, "\(alert) is silent in no case")
        }
    }
}
