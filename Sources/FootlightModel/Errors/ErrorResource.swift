public import Stage

/// An error; clients match on `code` and never on `message`.
public struct ErrorResource: Codable, Sendable, Hashable {
    /// The stable number.
    public var code: Int
    /// The stable name.
    public var name: String
    /// The event, for people.
    public var message: String
    /// The cause, for people.
    public var cause: String
    /// The solution, for people.
    public var solution: String
    /// The HTTP status.
    public var status: Int
    /// Whether the same request may succeed later.
    public var retryable: Bool
    /// Seconds to wait before a retry; null where waiting does not help.
    @ExplicitNull public var retryAfter: Int?
    /// The URL of the code's documentation.
    public var moreInfo: String

    /// Creates an error.
    public init(
        code: Int,
        name: String,
        message: String,
        cause: String,
        solution: String,
        status: Int,
        retryable: Bool,
        retryAfter: Int?,
        moreInfo: String
    ) {
        self.code = code
        self.name = name
        self.message = message
        self.cause = cause
        self.solution = solution
        self.status = status
        self.retryable = retryable
        self.retryAfter = retryAfter
        self.moreInfo = moreInfo
    }

    /// Creates the answer's model of an error.
    ///
    /// - Parameter moreInfo: The URL of the code's documentation; by default its path.
    public init(_ error: StageError, moreInfo: String? = nil) {
        self.init(
            code: error.code,
            name: error.name,
            message: error.message,
            cause: error.cause,
            solution: error.solution,
            status: error.status,
            retryable: error.isRetryable,
            retryAfter: error.retryAfter,
            moreInfo: moreInfo ?? "/docs/errors/\(error.code)"
        )
    }

    private enum CodingKeys: String, CodingKey {
        case code
        case name
        case message
        case cause
        case solution
        case status
        case retryable
        case retryAfter = "retry_after"
        case moreInfo = "more_info"
    }
}

extension StageError {
    /// Creates the error that a resource describes, the inverse of `ErrorResource.init`; compare `code`.
    public init(_ error: ErrorResource) {
        self.init(
            code: error.code,
            name: error.name,
            message: error.message,
            cause: error.cause,
            solution: error.solution,
            status: error.status,
            isRetryable: error.retryable,
            retryAfter: error.retryAfter.map { Self.acceptable(retryAfter: $0) }
        )
    }

    /// Returns the seconds of a response to wait before a retry, an hour at most.
    package static func acceptable(retryAfter seconds: Int) -> Int { min(max(seconds, 0), 3600) }
}

/// The body of every error response.
public struct ErrorAnswer: Codable, Sendable, Hashable {
    /// The error.
    public var error: ErrorResource

    /// Makes a body.
    public init(error: ErrorResource) {
        self.error = error
    }
}
