// Errors of ended sessions, and of participants that cannot act now.

extension StageError {
    /// 53001: signalling was lost; the reason of `participant.reconnecting`, and of a client that gives up.
    public static let signallingLost = StageError(
        code: 53001,
        name: "SignalingConnectionDisconnectedError",
        message: "Signaling connection disconnected",
        cause: "The event stream closed or heartbeats stopped",
        solution: "Check the internet connection",
        status: 503,
        isRetryable: true
    )
    /// 53002: the session timed out.
    public static let sessionTimedOut = StageError(
        code: 53002,
        name: "SignalingConnectionTimeoutError",
        message: "Signaling connection timed out",
        cause: "No heartbeat of the session arrived for too long, so it was removed",
        solution: "Join the room again",
        status: 410
    )
    /// 53404: the encoder's format is not supported.
    ///
    /// - Parameter fault: The unsupported property, as a sentence without its full stop, such as `HEVC is not
    ///   supported`.
    public static func codecUnsupported(_ fault: String) -> StageError {
        StageError(
            code: 53404,
            name: "MediaNoSupportedCodecError",
            message: fault,
            cause: "The encoder sends something else than 8-bit 4:2:0 H.264 with AAC or MP3",
            solution: "Choose H.264 and AAC in the encoder",
            status: 400
        )
    }
    /// 53404 with status 409: the encoder's media crashed the room's mixer repeatedly.
    public static func hostQuarantined(seconds: Int) -> StageError {
        StageError(
            code: 53404,
            name: "MediaNoSupportedCodecError",
            message: "The host's media ended the mixer again and again, and is not taken for \(seconds) s",
            cause: "Decoding what the encoder sends made the room's mixer fail several times within a minute",
            solution: "Restart the encoder, or choose other settings in it; then publish again",
            status: 409,
            isRetryable: true,
            retryAfter: seconds
        )
    }
    /// 53405: a host's media never arrived, or stopped.
    public static let mediaLost = StageError(
        code: 53405,
        name: "MediaConnectionError",
        message: "Media connection failed",
        cause: "No media of the published tracks arrives at the gateway",
        solution: "Check the network. Allow media traffic through the firewall",
        status: 503,
        isRetryable: true
    )
    /// 3035: a command of a participant that is not in the room.
    public static let notJoined = StageError(
        code: 3035,
        name: "ACTION_PERFORMED_BEFORE_ROOM_JOINED",
        message: "The room has not been joined",
        cause: "A command was given before the join, or after the end of the session",
        solution: "Join the room first",
        status: 409
    )
    /// 3065: a command of a participant whose connection is lost.
    public static let reconnecting = StageError(
        code: 3065,
        name: "ACTION_PERFORMED_WHILE_RECONNECTING",
        message: "The participant is reconnecting",
        cause: "The connection of the participant is lost at this moment",
        solution: "Try again once it is back",
        status: 409,
        isRetryable: true,
        retryAfter: 1
    )
    /// 1002: sent to a participant that an operator removed, on its event stream and at every return.
    public static let participantRemoved = StageError(
        code: 1002,
        name: "REMOVE_PEER",
        message: "The participant was removed from the room",
        cause: "An operator took the participant out",
        solution: "Tell the user; do not join again unasked",
        status: 410
    )
    /// 53103: the room could not be created or stored.
    public static let roomCreationFailed = StageError(
        code: 53103,
        name: "RoomCreateFailedError",
        message: "Unable to create Room",
        cause: "The room could not be stored",
        solution: "Try again, and look at the gateway's log if it stays",
        status: 500,
        isRetryable: true
    )
}

// Errors that the client library raises.

extension StageError {
    /// 53000: the gateway could not be reached for the join; raised by the client.
    public static let callNotConnected = StageError(
        code: 53000,
        name: "SignalingConnectionError",
        message: "Signaling connection error",
        cause: "The gateway could not be reached, or did not answer in time",
        solution: "Check the internet connection",
        status: 503,
        isRetryable: true
    )
    /// 53001: the connection was lost and could not be restored; raised by the client.
    public static let callConnectionLost = StageError(
        code: 53001,
        name: "SignalingConnectionDisconnectedError",
        message: "Signaling connection disconnected",
        cause: "The connection to the gateway was lost and could not be won back in time",
        solution: "Check the internet connection",
        status: 503,
        isRetryable: true
    )
    /// 499: the requesting task was cancelled; the code is what proxies log for a client that disconnected.
    public static let requestCancelled = StageError(
        code: 499,
        name: "RequestCancelledError",
        message: "The request was cancelled",
        cause: "The task that waited for the answer was cancelled",
        solution: "Ask again",
        status: 499
    )
}
