public import FootlightModel
import Hummingbird
import Stage

/// Reports how the gateway and its machine are doing.
public protocol SystemReporting: Sendable {
    /// Returns the present figures and findings.
    func system() async -> SystemResource

    /// Returns the latest messages of the log, the latest first.
    ///
    /// - Parameters:
    ///   - level: The lowest severity.
    ///   - room: The unique name of a room, whose messages alone are returned; nil for all.
    func events(from level: SystemEventLevel, room: String?) -> [SystemEventResource]

    /// Returns what somebody who helps an operator wants to know, without secrets.
    func diagnostics() async -> DiagnosticsResource
}

/// The severities of the messages that are kept in memory.
public enum SystemEventLevel: String, Sendable, CaseIterable {
    case notice
    case warning
    case error
    case critical
}

/// Routes for the state of the gateway and its machine.
struct SystemRoutes: FeatureRoutes {
    /// Nil if the gateway reports nothing.
    let system: (any SystemReporting)?

    func add(to api: APIRoutes) {
        api.read("system") { call in
            try call.claims.requireMonitoring()
            return try APIResponse.json(await reporter().system())
        }

        // Messages name clients and may hold what monitors must not learn.
        api.read("system/events") { call in
            try call.claims.requireOperator()
            let name = call.query("level") ?? SystemEventLevel.notice.rawValue
            guard let level = SystemEventLevel(rawValue: name) else {
                throw StageError.invalidParameter("level", "must be notice, warning, error or critical")
            }
            return try APIResponse.json(
                SystemEventList(events: reporter().events(from: level, room: call.query("room")))
            )
        }

        api.read("system/diagnostics") { call in
            try call.claims.requireOperator()
            return try APIResponse.json(await reporter().diagnostics())
        }
    }

    /// - Throws: 53006 if the gateway reports nothing.
    private func reporter() throws(StageError) -> any SystemReporting {
        guard let system else { throw .serverBusy(retryAfter: nil) }
        return system
    }
}
