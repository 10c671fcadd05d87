import Stage

extension StageError {
    /// 4013: no output could be connected.
    static func livestreamNotStarted(_ detail: String) -> StageError {
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

    /// 5002: every output was lost for good.
    static func livestreamLost(_ detail: String) -> StageError {
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
