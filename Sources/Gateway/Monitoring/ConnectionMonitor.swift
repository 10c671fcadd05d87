import Logging
import RTMP
import ServiceLifecycle

/// Logs refused connections, and closes the gate while descriptors are short.
struct ConnectionMonitor: Service {
    /// Seconds between two log lines of the same kind.
    private static let logInterval = 60
    /// Seconds without a refusal after which the gate counts as open again.
    private static let quietSeconds = 3

    let gate: ConnectionGate
    let mixers: ConnectionGate
    let health: Health
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown {
            var viewerReport = RefusalReport(every: Self.logInterval)
            var refused = gate.refused
            var quietSeconds = Self.quietSeconds
            var mixerReport = RefusalReport(every: Self.logInterval)
            while !Task.isCancelled {
                // Descriptors outside the plan, such as those of many pushes, may have used up the spare ones.
                let isShort = DescriptorLimit.isReached(within: DescriptorPlan.spare / 2)
                gate.setClosed(isShort)
                let now = gate.refused
                quietSeconds = gate.isFull || now > refused ? 0 : quietSeconds + 1
                refused = now
                let isFull = quietSeconds < Self.quietSeconds
                health.set(.connections, isFull ? "the connection limit is reached" : nil)
                report(gate, &viewerReport, "connections refused: limit reached")
                report(mixers, &mixerReport, "connections of mixers refused: descriptors exhausted")
                // Cancellation ends the sleep and, with it, the loop.
                try? await Task.sleep(for: .seconds(1))
            }
        }
    }

    private func report(_ gate: ConnectionGate, _ report: inout RefusalReport, _ message: Logger.Message) {
        guard let count = report.next(total: gate.refused) else { return }
        logger.warning(
            message,
            metadata: [
                "refused": "\(count)", "connections": "\(gate.connections)", "limit": "\(gate.limit)",
                "viewers": "\(gate.viewers)", "viewer_limit": "\(gate.viewerLimit)",
            ]
        )
    }
}

/// Limits the log lines about refusals; called once per second.
struct RefusalReport {
    private let interval: Int
    private var reported: UInt64 = 0
    private var wait = 0

    /// - Parameter interval: Seconds between two log lines.
    init(every interval: Int) {
        self.interval = interval
    }

    /// - Parameter total: The number of refusals so far.
    /// - Returns: The refusals since the last line if a line is due; nil otherwise.
    mutating func next(total: UInt64) -> UInt64? {
        wait -= 1
        guard wait <= 0, total > reported else { return nil }
        wait = interval
        defer { reported = total }
        return total - reported
    }
}
