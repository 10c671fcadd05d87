extension StageError {
    /// 3066: only a host has a picture that can be pinned.
    public static let onlyHostsArePinned = StageError(
        code: 3066,
        name: "ACTION_NOT_ALLOWED_IN_MODE",
        message: "This participant cannot be pinned",
        cause: "Only a participant in mode SEND_AND_RECV can be pinned",
        solution: "Pin a host",
        status: 403
    )
}
