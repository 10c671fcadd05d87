extension StageError: Encodable {
    /// Says all there is to say of the refusal, in the words of the control API; nothing is left out.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(code, forKey: .code)
        try container.encode(name, forKey: .name)
        try container.encode(message, forKey: .message)
        try container.encode(cause, forKey: .cause)
        try container.encode(solution, forKey: .solution)
        try container.encode(status, forKey: .status)
        try container.encode(isRetryable, forKey: .isRetryable)
        try container.encode(retryAfter, forKey: .retryAfter)
        try container.encode("/docs/errors/\(code)", forKey: .moreInfo)
    }

    /// The body of an answer that refuses, whichever side gives it.
    public struct Body: Encodable, Sendable {
        let error: StageError

        /// The body for a refusal.
        public init(_ error: StageError) {
            self.error = error
        }
    }

    private enum CodingKeys: String, CodingKey {
        case code
        case name
        case message
        case cause
        case solution
        case status
        case isRetryable = "retryable"
        case retryAfter = "retry_after"
        case moreInfo = "more_info"
    }
}
