/// A refusal with a stable code that clients match on, in the numbers of the source systems.
///
/// The catalogue of codes lives in `StageError+Catalogue.swift`.
public struct StageError: Error, Sendable, Equatable {
    /// The stable number.
    public var code: Int
    /// The stable name, such as `RoomNotFoundError`.
    public var name: String
    /// What happened, for people.
    public var message: String
    /// Why it happened, for people.
    public var cause: String
    /// What to do about it, for people.
    public var solution: String
    /// The HTTP status that carries it.
    public var status: Int
    /// Whether the same request may succeed later.
    public var isRetryable: Bool
    /// Seconds to wait before the next try; nil where waiting does not help.
    public var retryAfter: Int?

    /// Makes a refusal; one that no waiting helps against by default.
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
    /// What happened, what to do, and the code, in one line.
    public var description: String { "\(message). \(solution). (\(code))" }
}
