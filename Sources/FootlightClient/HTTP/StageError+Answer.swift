public import GatewayModel
public import Stage

extension StageError {
    /// An error as the gateway wrote it; `code` is what to compare.
    public init(_ error: ErrorResource) {
        self.init(
            code: error.code,
            name: error.name,
            message: error.message,
            cause: error.cause,
            solution: error.solution,
            status: error.status,
            isRetryable: error.retryable,
            retryAfter: error.retryAfter.map { min(max($0, 0), Self.longestRetry) }
        )
    }

    /// Seconds that an answer can make an app wait before it asks again; no gateway says more.
    private static let longestRetry = 3600

    /// An answer that no gateway gives, as from a proxy on the way; the code is the HTTP status.
    ///
    /// Retryable with a 5xx status.
    static func unexpectedAnswer(status: Int, _ problem: String, retryAfter: Int? = nil) -> StageError {
        StageError(
            code: status,
            name: "UnexpectedAnswerError",
            message: "The answer could not be used: \(problem)",
            cause: "Something other than the gateway answered, or the gateway is of another version",
            solution: "Check the address of the gateway",
            status: status,
            isRetryable: (500...599).contains(status),
            retryAfter: retryAfter.map { min(max($0, 0), longestRetry) }
        )
    }

    /// Reads a refusal: the gateway's own words where there are any.
    static func refusal(_ answer: HTTPAnswer) -> StageError {
        guard let found = try? WireJSON.decode(ErrorAnswer.self, from: answer.body) else {
            return .unexpectedAnswer(
                status: answer.status,
                "HTTP status \(answer.status)",
                retryAfter: answer.retryAfter
            )
        }
        var error = StageError(found.error)
        if error.retryAfter == nil { error.retryAfter = answer.retryAfter.map { min(max($0, 0), longestRetry) } }
        return error
    }
}
