/// One try to tell somebody of something.
public struct WebhookAttemptResource: Codable, Sendable, Hashable {
    /// 1 for the first.
    public var number: Int
    /// When it began.
    public var at: Timestamp
    /// Seconds.
    public var duration: Double
    /// `delivered`, `refused`, `redirect`, `gone`, `timeout`, `closed`, `unreachable`, `name_not_found`, `tls` or
    /// `forbidden`.
    public var outcome: String
    /// The HTTP status; null without an answer.
    @ExplicitNull public var status: Int?
    /// Seconds that were asked for before the next try; null when none were.
    @ExplicitNull public var retryAfter: Double?

    /// Makes a description.
    public init(number: Int, at: Timestamp, duration: Double, outcome: String, status: Int?, retryAfter: Double?) {
        self.number = number
        self.at = at
        self.duration = duration
        self.outcome = outcome
        self.status = status
        self.retryAfter = retryAfter
    }

    private enum CodingKeys: String, CodingKey {
        case number
        case at
        case duration
        case outcome
        case status
        case retryAfter = "retry_after"
    }
}
