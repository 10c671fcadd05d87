import FootlightTesting
import Foundation
import TestSupport
import Testing

/// Checks a gateway's metrics, the alert rules and the dashboard with Prometheus.
struct MetricsCheck {
    private static let rules = "deploy/prometheus/footlight-rules.yml"
    private static let dashboard = "deploy/grafana/footlight-audience.json"

    private let gateway: GatewayProcess
    private let folder: TemporaryFolder

    init(_ gateway: GatewayProcess) throws {
        self.gateway = gateway
        folder = try TemporaryFolder("prometheus")
    }

    /// - Parameter viewers: The viewer count that the metrics must show.
    func run(viewers: Int) async throws {
        try await checkTexts()
        let expressions = try dashboardExpressions()
        #expect(expressions.count > 10)
        let server = try await start()
        defer { server.child.end() }
        try await checkScrape(server.port)
        try await checkNames(server.port, expressions)
        for expression in expressions { try await ask(server.port, expression) }
        let rule = try await ask(server.port, "sum(footlight_viewers)")
        #expect(rule["data"]["result"][0]["value"][1].string == "\(viewers)", "\(rule.text)")
    }

    // MARK: promtool

    /// Checks metrics and alert rules with promtool.
    private func checkTexts() async throws {
        let page = try await gateway.request("GET", port: gateway.endpoints.adminPort, "/metrics")
        #expect(page.status == 200 && page.headers["content-type"]?.hasPrefix("text/plain; version=0.0.4") == true)
        let file = try folder.write(page.text, to: "metrics.txt")
        try await accept(["sh", "-c", "promtool check metrics <'\(file)'"])
        try await accept(["promtool", "check", "rules", ProjectFile.path(Self.rules)])
    }

    /// Expects promtool to succeed.
    private func accept(_ call: [String]) async throws {
        let tool = try ChildProcess(call)
        let exit = try await tool.wait(.seconds(20))
        #expect(exit == .code(0), "\(call): \(tool.standardOutput)\(tool.standardError)")
    }

    // MARK: A server that reads it

    private func start() async throws -> (child: ChildProcess, port: Int) {
        let port = try FreePort.pick()
        let file = try folder.write(
            """
            global: { scrape_interval: 1s, evaluation_interval: 1s }
            rule_files: ["\(ProjectFile.path(Self.rules))"]
            scrape_configs:
              - job_name: footlight
                static_configs: [{ targets: ["127.0.0.1:\(gateway.endpoints.adminPort)"] }]
            """,
            to: "prometheus.yml"
        )
        let child = try ChildProcess([
            "prometheus", "--config.file=\(file)", "--storage.tsdb.path=\(folder.file("data"))",
            "--web.listen-address=127.0.0.1:\(port)", "--log.level=warn",
        ])
        return (child, port)
    }

    /// Expects a successful scrape in the OpenMetrics format, which alone has units.
    private func checkScrape(_ port: Int) async throws {
        var target: JSONValue = .null
        let isRead = try await eventually(every: .milliseconds(100)) {
            guard FreePort.isListening(port) else { return false }
            target = try await self.get(port, "/api/v1/targets")["data"]["activeTargets"][0]
            return target["health"].string == "up"
        }
        #expect(isRead && target["lastError"].string == "", "\(target.text)")
        let family = "footlight_viewer_startup_seconds"
        let metadata = try await get(port, "/api/v1/metadata?metric=\(family)")
        #expect(metadata["data"][family][0]["unit"].string == "seconds", "\(metadata.text)")
        #expect(metadata["data"][family][0]["type"].string == "histogram", "\(metadata.text)")
        var health: [String?] = []
        let areEvaluated = try await eventually(every: .milliseconds(100)) {
            let groups = try await self.get(port, "/api/v1/rules")["data"]["groups"].elements
            health = groups.flatMap { $0["rules"].elements }.map { $0["health"].string }
            return !health.isEmpty && health.allSatisfy { $0 == "ok" }
        }
        #expect(areEvaluated, "\(health)")
    }

    /// Expects every metric of the rules and the dashboard to exist.
    private func checkNames(_ port: Int, _ expressions: [String]) async throws {
        let families = try await get(port, "/api/v1/metadata")["data"]
        guard case .object(let known) = families else { throw ToolFailure("no metadata", log: families.text) }
        let rules = try ProjectFile.text(Self.rules).split(separator: "\n").filter { !$0.contains("promtool") }
        let used = (expressions + rules.map(String.init)).flatMap { text in
            text.matches(of: /\bfootlight_[a-z0-9_]+/).map { String($0.output) }
        }
        #expect(used.count > 20)
        for name in Set(used) {
            let isThere = ["", "_bucket", "_sum", "_count", "_total"].contains { suffix in
                name.hasSuffix(suffix) && known[String(name.dropLast(suffix.count))] != nil
            }
            #expect(isThere, "nothing on the page is called \(name)")
        }
    }

    @discardableResult
    private func ask(_ port: Int, _ expression: String) async throws -> JSONValue {
        var allowed = CharacterSet.alphanumerics
        allowed.insert(charactersIn: "-._~")
        let query = expression.addingPercentEncoding(withAllowedCharacters: allowed) ?? ""
        let answer = try await get(port, "/api/v1/query?query=\(query)")
        #expect(answer["status"].string == "success", "\(expression): \(answer.text)")
        return answer
    }

    /// Returns the response; null while the server is not ready.
    private func get(_ port: Int, _ path: String) async throws -> JSONValue {
        try await gateway.request("GET", port: port, path).json
    }

    // MARK: The dashboard

    /// Returns the expressions of the panels, with the variables replaced.
    private func dashboardExpressions() throws -> [String] {
        let dashboard = try JSONValue(parsing: try ProjectFile.text(Self.dashboard))
        #expect((dashboard["schemaVersion"].int ?? 0) >= 36)
        #expect(dashboard["__inputs"][0]["name"].string == "DS_PROMETHEUS")
        let targets = panels(dashboard).flatMap { $0["targets"].elements }
        return targets.compactMap { $0["expr"].string }.map { expression in
            expression.replacing("$room", with: ".*").replacing("$__range_s", with: "60")
                .replacing("$__range", with: "1m").replacing("$__rate_interval", with: "1m")
        }
    }

    /// Returns all panels, also those in rows.
    private func panels(_ part: JSONValue) -> [JSONValue] {
        part["panels"].elements.flatMap { [$0] + panels($0) }
    }
}

/// Reads files of the repository.
enum ProjectFile {
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// Returns the absolute path of a file such as `deploy/prometheus/footlight-rules.yml`.
    static func path(_ name: String) -> String { root.appendingPathComponent(name).path }

    static func text(_ name: String) throws -> String { try String(contentsOfFile: path(name), encoding: .utf8) }
}
