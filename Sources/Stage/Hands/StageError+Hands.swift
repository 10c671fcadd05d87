extension StageError {
    /// 404: no such hand is up; the code is the HTTP status, as no source system has one for it.
    public static let handNotFound = StageError(
        code: 404,
        name: "HandNotFoundError",
        message: "No such hand is raised",
        cause: "It was lowered or answered, its time is over, or its participant left or is on stage",
        solution: "List the raised hands",
        status: 404
    )
    /// 3066: a host speaks already.
    public static let hostsNeedNoHand = StageError(
        code: 3066,
        name: "ACTION_NOT_ALLOWED_IN_MODE",
        message: "A host need not ask to speak",
        cause: "Only participants in mode RECV_ONLY and SIGNALLING_ONLY raise a hand",
        solution: "Publish a track",
        status: 403
    )
}
