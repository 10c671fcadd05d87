/// A refusal; clients match on `code` and never on `message`.
public struct ErrorResource: Codable, Sendable, Hashable {
    /// The stable number.
    public var code: Int
    /// The stable name.
    public var name: String
    /// What happened, for people.
    public var message: String
    /// Why, for people.
    public var cause: String
    /// What to do, for people.
    public var solution: String
    /// The HTTP status.
    public var status: Int
    /// The same request may succeed later.
    public var retryable: Bool
    /// Seconds to wait; null where waiting does not help.
    @ExplicitNull public var retryAfter: Int?
    /// Where the code is explained.
    public var moreInfo: String

    /// Makes a refusal.
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
