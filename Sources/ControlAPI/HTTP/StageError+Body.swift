public import Stage

extension StageError {
    /// 53004 with status 413, as `bodyTooLarge`, where more is read than elsewhere.
    public static func bodyTooLarge(limit: Int) -> StageError {
        var error = StageError.bodyTooLarge
        error.cause = "Bodies are limited to \(limit >> 20) MiB here"
        error.solution = "Send less at a time"
        return error
    }
}
