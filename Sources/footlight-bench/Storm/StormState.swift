import FootlightTesting
import Foundation

/// What a gateway says of itself, and the system of it, at one moment.
struct StormState {
    private let metrics: [String: Double]
    private let resident: Int
    private let kernel: Int

    init(_ gateway: GatewayProcess) async throws {
        let reply = try await gateway.request("GET", port: gateway.endpoints.adminPort, "/metrics")
        var metrics: [String: Double] = [:]
        for line in reply.text.split(separator: "\n") where !line.hasPrefix("#") {
            let words = line.split(separator: " ")
            guard words.count == 2, let value = Double(words[1]) else { continue }
            metrics[String(words[0].prefix { $0 != "{" }), default: 0] += value
        }
        self.metrics = metrics
        resident = RunningProcess.residentBytes(of: gateway.endpoints.pid) ?? 0
        kernel = Self.kernelBytes
    }

    /// Viewers who were proven to watch, as the gateway counts them.
    var joins: Int { Int(metrics["footlight_viewer_joins_total"] ?? 0) }

    /// One line of a table.
    func row(_ name: String, gap: Double) -> [String] {
        func mebibytes(_ bytes: Double) -> String { (bytes / 1_048_576).text(1) }
        func value(_ name: String) -> Double { metrics["footlight_fanout_" + name] ?? .nan }
        return [
            name, gap.text(1), value("viewers").text(0), mebibytes(Double(resident)), mebibytes(Double(kernel)),
            mebibytes(value("total_cached_bytes")), mebibytes(value("total_queued_bytes")),
            value("skips_total").text(0),
            value("closed_slow_total").text(0), value("refused_total").text(0),
        ]
    }

    /// Memory of all TCP sockets of the machine, both ends of every connection here (`/proc/net/sockstat`, in pages).
    private static var kernelBytes: Int {
        let text = (try? String(contentsOfFile: "/proc/net/sockstat", encoding: .utf8)) ?? ""
        let words = text.split(separator: "\n").first { $0.hasPrefix("TCP:") }?.split(separator: " ") ?? []
        guard let index = words.firstIndex(of: "mem"), index + 1 < words.count else { return 0 }
        return (Int(words[index + 1]) ?? 0) * 4096
    }
}
