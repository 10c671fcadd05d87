import Logging
import RTMP
import ServiceLifecycle

/// Says when connections are refused for want of room, and keeps the last descriptors free.
struct ConnectionWatch: Service {
    /// Seconds between two lines of the log about the same.
    private static let quiet = 60
    /// Seconds without a refusal after which there is room again.
    private static let calm = 3

    let gate: ConnectionGate
    let mixers: ConnectionGate
    let health: Health
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown {
            var viewerReport = RefusalReport(every: Self.quiet)
            var refused = gate.refused
            var calm = Self.calm
            var mixerReport = RefusalReport(every: Self.quiet)
            while !Task.isCancelled {
                // What no plan foresaw, as many pushes, may have taken what is kept free.
                let isShort = DescriptorLimit.isReached(within: DescriptorPlan.spare / 2)
                gate.shut(isShort)
                let now = gate.refused
                calm = gate.isFull || now > refused ? 0 : calm + 1
                refused = now
                let isFull = calm < Self.calm
                health.set(.connections, isFull ? "there is no room for another connection" : nil)
                report(gate, &viewerReport, "connections are refused, there is no room for more")
                report(mixers, &mixerReport, "connections of mixers are refused, there are no descriptors for more")
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

/// Decides when refusals are worth a line of the log; asked once a second.
struct RefusalReport {
    private let interval: Int
    private var reported: UInt64 = 0
    private var wait = 0

    /// - Parameter interval: Seconds between two lines.
    init(every interval: Int) {
        self.interval = interval
    }

    /// - Parameter total: Refusals until now.
    /// - Returns: Those since the last line, when they are due; nil otherwise.
    mutating func next(total: UInt64) -> UInt64? {
        wait -= 1
        guard wait <= 0, total > reported else { return nil }
        wait = interval
        defer { reported = total }
        return total - reported
    }
}
