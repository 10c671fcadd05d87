import ControlAPI
import Logging
import Synchronization
import Viewership

/// The readiness of the gateway, as a list of independent reasons against it; `/readyz` returns it.
///
/// The monitor of a component sets and clears that component's reason. Any thread.
final class Health: Sendable {
    /// A reason, whose name appears in `/readyz`, in the log, and as a label of the metric `footlight_unready`.
    struct Reason: Hashable, Sendable {
        /// The gateway is shutting down.
        static let draining = Reason("draining", refusesWork: true)
        /// Memory is short; new viewers are refused.
        static let memory = Reason("memory", refusesWork: true)
        /// An event loop is blocked.
        static let eventLoops = Reason("event_loops")
        /// The disk of the data folder is almost full.
        static let disk = Reason("disk")
        /// The data folder was deleted or replaced.
        static let dataFolder = Reason("data_folder")
        /// The mixers of a room fail repeatedly.
        static let mixers = Reason("mixers")

        /// The connection limit is reached.
        static let connections = Reason("connections")

        /// A database cannot be reached, read or written.
        static func store(_ name: String) -> Reason { Reason("store_" + name) }

        let name: String
        /// Whether commands that start something new are refused.
        let refusesWork: Bool

        /// - Parameters:
        ///   - name: Lowercase letters, digits and underscores.
        ///   - refusesWork: Whether commands that start something new are refused with 503.
        init(_ name: String, refusesWork: Bool = false) {
            self.name = name
            self.refusesWork = refusesWork
        }
    }

    /// Seconds after which a refused client may retry.
    static let retryAfter = 5

    private let logger: Logger
    private let reasons = Mutex<[Reason: String]>([:])

    init(logger: Logger) {
        self.logger = logger
    }

    /// Sets or clears a reason.
    ///
    /// - Parameter problem: A description without paths or secrets; nil clears the reason.
    func set(_ reason: Reason, _ problem: String?) {
        let (before, isReady) = reasons.withLock { reasons in
            let before = reasons[reason]
            reasons[reason] = problem
            return (before, reasons.isEmpty)
        }
        guard (before == nil) != (problem == nil) else { return }
        logger.log(
            level: problem == nil ? .notice : .warning,
            problem == nil ? "a reason not to be ready is over" : "a reason not to be ready",
            metadata: ["reason": "\(reason.name)", "problem": "\(problem ?? before ?? "")", "ready": "\(isReady)"]
        )
    }

    /// Whether there is no reason against readiness.
    var isReady: Bool { reasons.withLock(\.isEmpty) }

    /// Whether commands that start something new are accepted.
    var acceptsWork: Bool { reasons.withLock { reasons in !reasons.keys.contains(where: \.refusesWork) } }

    /// All reasons, sorted by name.
    var readiness: Readiness {
        let reasons = reasons.withLock { $0 }
        return Readiness(
            reasons: reasons.map { Readiness.Reason(name: $0.key.name, problem: $0.value) }.sorted { $0.name < $1.name }
        )
    }

    /// The Prometheus metric, with one series per reason.
    var family: MetricFamily {
        MetricFamily(
            name: "footlight_unready",
            kind: .gauge,
            help: "Reasons for which /readyz answers 503; none while the gateway is ready.",
            samples: readiness.reasons.map { .init(["reason": $0.name], 1) }
        )
    }
}
