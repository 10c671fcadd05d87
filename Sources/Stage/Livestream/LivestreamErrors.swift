// Errors of livestreams and HLS beside those of the catalogue.

// MARK: Livestreams

extension StageError {
    /// 3055: a start or a stop is under way.
    public static let livestreamInFlight = inFlight("livestream")

    /// 4030: the gateway has the maximum number of livestreams.
    public static let livestreamLimitReached = StageError(
        code: 4030,
        name: "MAX_LIVESTREAM_LIMIT_REACHED_ON_ORGANIZATION",
        message: "The gateway has its maximum of livestreams",
        cause: "As many rooms are live as the gateway pushes at the same time",
        solution: "Stop another livestream, or try again later",
        status: 409
    )

    /// 4013: no output could be connected.
    public static func livestreamNotStarted(_ detail: String) -> StageError {
        StageError(
            code: 4013,
            name: "START_LIVESTREAM_FAILED",
            message: "The livestream could not be started",
            cause: detail,
            solution: "Check the outputs' addresses and stream keys, then start again",
            status: 502,
            isRetryable: true
        )
    }

    /// 5002: every output was lost.
    public static func livestreamLost(_ detail: String) -> StageError {
        StageError(
            code: 5002,
            name: "LIVESTREAM_FAILED",
            message: "The livestream lost all of its outputs",
            cause: detail,
            solution: "Check the targets, then start the livestream again",
            status: 502,
            isRetryable: true
        )
    }
}

// MARK: HLS

extension StageError {
    /// 3054: HLS was started by command before.
    public static let hlsAlreadyStarted = StageError(
        code: 3054,
        name: "HLS_ALREADY_STARTED",
        message: "HLS already runs",
        cause: "HLS was started before",
        solution: "Nothing is to be done, or stop it first",
        status: 409
    )

    /// 3055: a start or a stop is under way.
    public static let hlsInFlight = inFlight("HLS")

    /// 4016: the playlist did not become playable.
    public static func hlsNotStarted(_ detail: String) -> StageError {
        StageError(
            code: 4016,
            name: "START_HLS_FAILED",
            message: "HLS could not be started",
            cause: detail,
            solution: "See that a host is on air, then start again",
            status: 502,
            isRetryable: true
        )
    }

    /// 4017: HLS does not run, or its end failed.
    public static func hlsNotStopped(_ detail: String) -> StageError {
        StageError(
            code: 4017,
            name: "STOP_HLS_FAILED",
            message: "HLS could not be stopped",
            cause: detail,
            solution: "Look at the present state before stopping again",
            status: 409
        )
    }

    /// 5003: HLS failed while running.
    public static func hlsFailed(_ detail: String) -> StageError {
        StageError(
            code: 5003,
            name: "HLS_FAILED",
            message: "HLS failed",
            cause: detail,
            solution: "Start HLS again",
            status: 502,
            isRetryable: true
        )
    }

    /// 4015: a running livestream needs an output.
    public static let lastOutput = StageError(
        code: 4015,
        name: "INVALID_LIVESTREAM_CONFIG",
        message: "The last output of a livestream cannot be removed",
        cause: "The livestream runs, and this is its only output",
        solution: "Stop the livestream instead, by POST to livestream/stop of the room",
        status: 409
    )
    private static func inFlight(_ subject: String) -> StageError {
        StageError(
            code: 3055,
            name: "START_OR_STOP_IN_FLIGHT",
            message: "A start or stop of the \(subject) is under way",
            cause: "The command before this one has not come to its end",
            solution: "Wait for the next change of its state",
            status: 409
        )
    }
}
