/// The set of a room's outputs and the state they make together.
public struct LivestreamStatus: Sendable, Equatable {
    /// The states of a livestream, in the spelling of the wire.
    public enum State: String, Sendable, Equatable, Codable {
        case stopped = "LIVESTREAM_STOPPED"
        case starting = "LIVESTREAM_STARTING"
        case started = "LIVESTREAM_STARTED"
        case stopping = "LIVESTREAM_STOPPING"
    }

    /// The state of all outputs together.
    public var state: State
    /// Seconds since 1970 when the livestream reached `started`; nil before.
    public var startedAt: Double?
    /// Each output, in the order they were given.
    public var outputs: [OutputStatus]
    /// Why it ends or has ended; nil while it runs, and before it ever ran.
    public var endReason: LivestreamEndReason?

    /// What is not as the outputs' platforms ask for; empty when all is.
    public var warnings: [LivestreamWarning]

    /// Makes a status; a livestream that never ran by default.
    public init(
        state: State = .stopped,
        startedAt: Double? = nil,
        outputs: [OutputStatus] = [],
        endReason: LivestreamEndReason? = nil,
        warnings: [LivestreamWarning] = []
    ) {
        self.state = state
        self.startedAt = startedAt
        self.outputs = outputs
        self.endReason = endReason
        self.warnings = warnings
    }
}
