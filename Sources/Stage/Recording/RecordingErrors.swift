// Errors of recordings.

extension StageError {
    /// 3056: the room is being recorded.
    public static let recordingAlreadyStarted = StageError(
        code: 3056,
        name: "RECORDING_ALREADY_STARTED",
        message: "The room is being recorded already",
        cause: "Its recording was started before",
        solution: "Nothing is to be done, or stop it first",
        status: 409
    )

    /// 3055: the previous recording is still being written.
    public static let recordingInFlight = StageError(
        code: 3055,
        name: "START_OR_STOP_IN_FLIGHT",
        message: "A start or stop of the recording is under way",
        cause: "The command before this one has not come to its end",
        solution: "Wait for the next change of its state",
        status: 409
    )

    /// 3057: the file is not finished.
    public static let recordingBeingWritten = StageError(
        code: 3057,
        name: "RECORDING_IN_PROGRESS",
        message: "The file is still being written",
        cause: "Its room is being recorded",
        solution: "Stop the recording, then delete the file",
        status: 409
    )

    /// 4011: the recording could not be started.
    public static func recordingNotStarted(_ detail: String) -> StageError {
        StageError(
            code: 4011,
            name: "START_RECORDING_FAILED",
            message: "The recording could not be started",
            cause: detail,
            solution: "Make room on the disk of the data folder, then start again",
            status: 503,
            isRetryable: true
        )
    }

    /// 4012: the room is not recorded.
    public static let recordingNotRunning = StageError(
        code: 4012,
        name: "STOP_RECORDING_FAILED",
        message: "The room is not being recorded",
        cause: "No recording was started, or it has ended",
        solution: "Look at the present state before stopping",
        status: 409
    )

    /// 4018: the deletion failed.
    public static func recordingNotDeleted(_ detail: String) -> StageError {
        StageError(
            code: 4018,
            name: "DELETE_RECORDING_FAILED",
            message: "The recording could not be deleted",
            cause: detail,
            solution: "Look at the disk of the data folder, then try again",
            status: 500,
            isRetryable: true
        )
    }

    /// 5001: the recording failed; the show goes on.
    public static func recordingFailed(_ detail: String) -> StageError {
        StageError(
            code: 5001,
            name: "RECORDING_FAILED",
            message: "The recording has ended by itself",
            cause: detail,
            solution: "Make room on the disk of the data folder, then start the recording again",
            status: 503,
            isRetryable: true
        )
    }

    /// 53206: the file does not exist.
    public static let recordingNotFound = StageError(
        code: 53206,
        name: "RecordingNotFoundError",
        message: "There is no such recording",
        cause: "It was deleted, its time is over, or it never was",
        solution: "List the recordings of the room",
        status: 404
    )
}
