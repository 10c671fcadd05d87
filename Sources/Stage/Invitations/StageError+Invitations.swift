// No source system has numbers for these; the code is the HTTP status.

extension StageError {
    /// 404: no such invitation, or not for this identity.
    public static let invitationNotFound = StageError(
        code: 404,
        name: "InvitationNotFoundError",
        message: "Invitation not found",
        cause: "There is no such invitation for this identity, or it is long past",
        solution: "Ask to be invited again",
        status: 404
    )
    /// 409: answered or called back before.
    public static let invitationClosed = StageError(
        code: 409,
        name: "InvitationClosedError",
        message: "The invitation is closed",
        cause: "It was answered before, perhaps on another device, or called back",
        solution: "Follow the invitation's events",
        status: 409
    )
    /// 410: not answered in time.
    public static let invitationExpired = StageError(
        code: 410,
        name: "InvitationExpiredError",
        message: "The invitation has expired",
        cause: "It was not answered in time",
        solution: "Ask to be invited again",
        status: 410
    )
    /// 53006: a room has only so many invitations that ring at the same time.
    public static let tooManyInvitations = StageError(
        code: 53006,
        name: "SignalingServerBusyError",
        message: "Too many invitations are open in this room",
        cause: "The room is at its limit of invitations that ring at the same time",
        solution: "Wait for answers, or call some back",
        status: 503,
        isRetryable: true,
        retryAfter: 5
    )
}
