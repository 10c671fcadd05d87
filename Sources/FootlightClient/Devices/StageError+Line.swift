import Stage

extension StageError {
    /// Whether it says only that the line to the gateway broke, or is being won back.
    var isBrokenLine: Bool {
        let codes = [StageError.callNotConnected, .callConnectionLost, .reconnecting, .requestCancelled].map(\.code)
        return codes.contains(code)
    }

    /// Whether it says that a request of a broken line was never carried out.
    var isUnsent: Bool { code == StageError.reconnecting.code }
}
