extension StageError {
    /// 53000: the gateway could not be reached to join; raised by the client.
    public static let callNotConnected = StageError(
        code: 53000,
        name: "SignalingConnectionError",
        message: "Signaling connection error",
        cause: "The gateway could not be reached, or did not answer in time",
        solution: "Check the internet connection",
        status: 503,
        isRetryable: true
    )
    /// 53001: the connection was lost and could not be won back; raised by the client.
    public static let callConnectionLost = StageError(
        code: 53001,
        name: "SignalingConnectionDisconnectedError",
        message: "Signaling connection disconnected",
        cause: "The connection to the gateway was lost and could not be won back in time",
        solution: "Check the internet connection",
        status: 503,
        isRetryable: true
    )
    /// 499: the task that asked was cancelled; the code is what proxies write for a client that went away.
    public static let requestCancelled = StageError(
        code: 499,
        name: "RequestCancelledError",
        message: "The request was cancelled",
        cause: "The task that waited for the answer was cancelled",
        solution: "Ask again",
        status: 499
    )
}
