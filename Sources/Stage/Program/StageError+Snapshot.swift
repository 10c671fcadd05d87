extension StageError {
    /// 53207: nothing is mixed, so that there is nothing to be seen.
    public static let snapshotNotThere = StageError(
        code: 53207,
        name: "SnapshotNotFoundError",
        message: "There is no picture of the program",
        cause: "The room's program is not on, or has just begun",
        solution: "See that a host is on air, then ask again",
        status: 404,
        isRetryable: true
    )
}
