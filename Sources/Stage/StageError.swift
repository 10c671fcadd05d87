/// An error with a stable code that clients match on, from the numbers of the source systems.
///
/// The catalogue of codes lives in `ErrorCatalogue.swift`.
public struct StageError: Error, Sendable, Equatable {
    /// The stable number.
    public var code: Int
    /// The stable name, such as `RoomNotFoundError`.
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
    public var isRetryable: Bool
    /// Seconds to wait before a retry; nil where waiting does not help.
    public var retryAfter: Int?

    /// Creates an error; not retryable by default.
    public init(
        code: Int,
        name: String,
        message: String,
        cause: String,
        solution: String,
        status: Int,
        isRetryable: Bool = false,
        retryAfter: Int? = nil
    ) {
        self.code = code
        self.name = name
        self.message = message
        self.cause = cause
        self.solution = solution
        self.status = status
        self.isRetryable = isRetryable
        self.retryAfter = retryAfter
    }
}

extension StageError: CustomStringConvertible {
    /// The message, the solution and the code in one line.
    public var description: String { "\(message). \(solution). (\(code))" }
}

extension StageError: Encodable {
    /// Encodes all fields in the format of the control API.
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

    /// The body of an error response.
    public struct Body: Encodable, Sendable {
        let error: StageError

        /// Creates the body of an error.
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
