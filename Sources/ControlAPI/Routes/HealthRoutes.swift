import Hummingbird

/// Health and metrics, without tokens.
struct HealthRoutes: Sendable {
    let readiness: @Sendable () -> Readiness
    /// Returns the body of `/metrics`, Prometheus text format 0.0.4.
    let metrics: @Sendable () -> String
    /// Returns the metrics as OpenMetrics 1.0; nil if only the older format is offered.
    let openMetrics: (@Sendable () -> String)?

    func add(to router: Router<BasicRequestContext>) {
        // A response proves that the event loops run.
        router.get("livez") { _, _ in APIResponse.text("ok\n") }
        router.get("readyz") { _, _ in
            let readiness = readiness()
            return try APIResponse.json(readiness, status: readiness.ready ? .ok : .serviceUnavailable)
        }
    }

    func addMetrics(to router: Router<BasicRequestContext>) {
        router.get("metrics") { request, _ in
            if let openMetrics, request.headers[.accept]?.contains("application/openmetrics-text") ?? false {
                return APIResponse.text(openMetrics(), type: "application/openmetrics-text; version=1.0.0")
            }
            return APIResponse.text(metrics(), type: "text/plain; version=0.0.4")
        }
    }
}

/// The body of `/readyz`: whether the gateway accepts new work, and every reason why not.
public struct Readiness: Sendable, Encodable, Equatable {
    /// A reason why the gateway is not ready.
    public struct Reason: Sendable, Encodable, Equatable {
        /// A stable identifier of lowercase letters, digits and underscores.
        public var name: String
        /// A description of the problem for people.
        public var problem: String

        /// Creates a reason.
        public init(name: String, problem: String) {
            self.name = name
            self.problem = problem
        }
    }

    /// Whether the gateway accepts new work.
    public let ready: Bool
    /// The reasons why not; empty if the gateway is ready.
    public let reasons: [Reason]

    /// Creates a response body; without reasons the gateway is ready.
    public init(reasons: [Reason] = []) {
        ready = reasons.isEmpty
        self.reasons = reasons
    }
}
