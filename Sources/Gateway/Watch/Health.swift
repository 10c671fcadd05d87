import ControlAPI
import Logging
import Synchronization
import Viewership

/// Why new work should not be sent to this gateway, as a list of independent reasons; what `/readyz` answers.
///
/// Whoever watches a part of the gateway sets the reason of that part and clears it again. Any thread.
final class Health: Sendable {
    /// A reason of its own name: in the answer of `/readyz`, in the log, and as a label of the metric `footlight_unready`.
    struct Reason: Hashable, Sendable {
        /// The gateway is being stopped.
        static let draining = Reason("draining", refusesWork: true)
        /// Memory is short; new viewers are refused.
        static let memory = Reason("memory", refusesWork: true)
        /// An event loop has not turned for seconds.
        static let eventLoops = Reason("event_loops")
        /// The disk of the data folder has next to no free space.
        static let disk = Reason("disk")
        /// The data folder is gone.
        static let dataFolder = Reason("data_folder")
        /// Mixers of a room die or hang again and again.
        static let mixers = Reason("mixers")

        /// There is no room for another connection.
        static let connections = Reason("connections")

        /// A database cannot be reached, read or written.
        static func store(_ name: String) -> Reason { Reason("store_" + name) }

        let name: String
        /// Whether commands that begin something new are refused for it.
        let refusesWork: Bool

        /// - Parameters:
        ///   - name: Small letters, digits and underscores.
        ///   - refusesWork: Whether commands that begin something new are answered 503 for it.
        init(_ name: String, refusesWork: Bool = false) {
            self.name = name
            self.refusesWork = refusesWork
        }
    }

    /// Seconds after which a client that was refused may try again.
    static let retryAfter = 5

    private let logger: Logger
    private let reasons = Mutex<[Reason: String]>([:])

    init(logger: Logger) {
        self.logger = logger
    }

    /// Sets a reason, or clears it.
    ///
    /// - Parameter problem: What is wrong, for people, without paths or secrets; nil when nothing is.
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

    /// Whether nothing is wrong.
    var isReady: Bool { reasons.withLock(\.isEmpty) }

    /// Whether commands that begin something new are accepted.
    var acceptsWork: Bool { reasons.withLock { reasons in !reasons.keys.contains(where: \.refusesWork) } }

    /// All that is wrong, in order of the names.
    var readiness: Readiness {
        let reasons = reasons.withLock { $0 }
        return Readiness(
            reasons: reasons.map { Readiness.Reason(name: $0.key.name, problem: $0.value) }.sorted { $0.name < $1.name }
        )
    }

    /// As Prometheus reads it: one series for each reason that holds.
    var family: MetricFamily {
        MetricFamily(
            name: "footlight_unready",
            kind: .gauge,
            help: "Reasons for which /readyz answers 503; none while the gateway is ready.",
            samples: readiness.reasons.map { .init(["reason": $0.name], 1) }
        )
    }
}
