// What the type of a room does not allow.

extension StageError {
    /// 20106: a private room.
    public static let joiningNeedsInvitation = StageError(
        code: 20106,
        name: "AccessTokenGrantsInvalidError",
        message: "Only those who are invited join this room",
        cause: "The room's type is private, and this identity has accepted no invitation to it",
        solution: "Ask to be invited, accept, and join then",
        status: 403
    )
    /// 4065: a room in which one is asked on stage.
    public static let speakingNeedsPermission = StageError(
        code: 4065,
        name: "CHANGE_MODE_FAILED",
        message: "Only those who are invited or accepted speak in this room",
        cause: "In rooms of the types livestream and audio_room nobody becomes a host by a token alone",
        solution: "Join as RECV_ONLY and raise a hand, or ask to be invited",
        status: 403
    )
    /// 20106: a room that operators stream.
    public static let streamingNeedsOperator = StageError(
        code: 20106,
        name: "AccessTokenGrantsInvalidError",
        message: "Only operators stream this room",
        cause: "In rooms of the type audio_room tokens of participants start and stop no livestream and no HLS",
        solution: "Ask an operator, or use a room of another type",
        status: 403
    )
}
