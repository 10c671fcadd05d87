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
