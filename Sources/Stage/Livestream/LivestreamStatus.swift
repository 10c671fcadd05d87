/// A room's outputs and their common state.
public struct LivestreamStatus: Sendable, Equatable {
    /// The states of a livestream, as the API names them.
    public enum State: String, Sendable, Equatable, Codable {
        case stopped = "LIVESTREAM_STOPPED"
        case starting = "LIVESTREAM_STARTING"
        case started = "LIVESTREAM_STARTED"
        case stopping = "LIVESTREAM_STOPPING"
    }

    /// The common state of all outputs.
    public var state: State
    /// Seconds since 1970 when the livestream reached `started`; nil before.
    public var startedAt: Double?
    /// The outputs, in the given order.
    public var outputs: [OutputStatus]
    /// The reason for the end; nil while the livestream runs, and before it ever ran.
    public var endReason: LivestreamEndReason?

    /// The violations of the platforms' requirements; empty without any.
    public var warnings: [LivestreamWarning]

    /// Creates a status; a livestream that never ran by default.
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

/// The reason for the end of a livestream.
public enum LivestreamEndReason: String, Sendable, Hashable, Codable {
    /// Stopped by command.
    case command
    /// The maximum duration passed.
    case maximumDuration = "max_duration"
    /// All microphones and cameras were off for too long.
    case idle
    /// No output could be connected (4013).
    case notStarted = "not_started"
    /// Every output was lost (5002).
    case lost
    /// The room ended.
    case roomEnded = "room_ended"
}

/// A warning about a livestream that goes on.
public struct LivestreamWarning: Sendable, Hashable {
    /// The reasons for a warning, as the API names them.
    public enum Reason: String, Sendable, Hashable, Codable, CaseIterable {
        /// An output lost its connection and reconnects.
        case outputInterrupted = "output_interrupted"
        /// An output failed for now; the others go on.
        case outputFailed = "output_failed"
        /// An output switched to its backup address.
        case outputOnBackup = "output_on_spare"
        /// An output switched back to its main address.
        case outputOnMain = "output_on_main"
        /// An output's unused backup address cannot be reached.
        case backupUnreachable = "spare_unreachable"
        /// An output's backup address can be reached again.
        case backupReachable = "spare_reachable"
        /// An output's target is too slow for the program, and frames are dropped.
        case outputSlow = "output_slow"
        /// An output's target accepts the whole program again.
        case outputKeepsUp = "output_keeps_up"
        /// The stream violates the requirements of an output's platform.
        case streamUnsuitable = "stream_unsuitable"
        /// The stream meets the requirements of an output's platform again.
        case streamSuitable = "stream_suitable"
        /// The rendition of an output is not encoded at present.
        case renditionStopped = "rendition_stopped"
        /// The rendition of an output is encoded again.
        case renditionResumed = "rendition_resumed"
        /// The removal of the last output was refused.
        case lastOutput = "last_output"
        /// All microphones and cameras are off; the livestream will stop.
        case idleSoon = "idle_soon"
        /// The maximum duration is nearly reached; the livestream will stop.
        case maximumDurationSoon = "max_duration_soon"
    }

    /// The reason.
    public var reason: Reason
    /// The name of the output; nil for a warning about the livestream.
    public var output: String?
    /// The message for people, without secrets.
    public var message: String
    /// Seconds until the livestream stops; nil if it goes on.
    public var secondsLeft: Int?

    /// Creates a warning.
    public init(_ reason: Reason, output: String? = nil, message: String, secondsLeft: Int? = nil) {
        self.reason = reason
        self.output = output
        self.message = message
        self.secondsLeft = secondsLeft
    }

    /// The closest stable code: 4015 for the last output, else 5002.
    public var code: Int { reason == .lastOutput ? 4015 : 5002 }
}

/// Starts and stops the pushes of a room's program; the control API's interface to the egress.
public protocol LivestreamControlling: Sendable {
    /// Starts pushing to `targets`, which connect asynchronously.
    ///
    /// - Throws: 4015 for no target or an invalid one, 3073 for options out of range, 3054 when the room is live, 3055
    ///   while a start or a stop is under way, 4030 at the gateway's limit of livestreams.
    func start(room: String, targets: [OutputTarget], options: LivestreamOptions) throws(StageError)
    /// Stops every output, also of a starting livestream.
    ///
    /// - Throws: 4014 when no livestream runs, 3055 while a stop is under way.
    func stop(room: String) throws(StageError)
    /// Adds outputs to a running livestream, all of them or none.
    ///
    /// - Throws: 4014 when no livestream runs, 3055 while a stop is under way, 4015 for no target, an invalid one, or a
    ///   name in use.
    func add(_ targets: [OutputTarget], room: String) throws(StageError)
    /// Removes one output; the last one cannot be removed, because stopping is a command of its own.
    ///
    /// - Throws: 4014 when no livestream runs or the name is unknown, 3055 while a stop is under way, 4015 with status
    ///   409 for the last output.
    func remove(output name: String, room: String) throws(StageError)
    /// Retries one output that is not connected now; a connected one stays as it is.
    ///
    /// - Throws: 4014 when no livestream runs or the name is unknown, 3055 while a stop is under way.
    func retry(output name: String, room: String) throws(StageError)
    /// Returns the current state; `stopped` without outputs for a room that never was live.
    func status(room: String) -> LivestreamStatus
}

extension LivestreamControlling {
    /// Starts pushing to `targets` with the default options.
    ///
    /// - Throws: As with options.
    public func start(room: String, targets: [OutputTarget]) throws(StageError) {
        try start(room: room, targets: targets, options: LivestreamOptions())
    }
}
