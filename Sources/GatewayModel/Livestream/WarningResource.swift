/// Something that went wrong beside the show, which goes on.
public struct WarningResource: Codable, Sendable, Hashable {
    /// The stable number.
    public var code: Int
    /// `output_interrupted`, `output_failed`, `output_on_spare`, `output_on_main`, `spare_unreachable`,
    /// `spare_reachable`, `output_slow`, `output_keeps_up`, `stream_unsuitable`, `stream_suitable`, `rendition_stopped`,
    /// `rendition_resumed`, `last_output`, `idle_soon` or `max_duration_soon`.
    public var reason: String
    /// What happened, for people.
    public var message: String
    /// The output it is about; null when it is about none.
    @ExplicitNull public var output: String?
    /// Seconds until the livestream stops by itself; null when it goes on.
    @ExplicitNull public var secondsLeft: Int?

    /// Makes a warning.
    public init(code: Int, reason: String, message: String, output: String?, secondsLeft: Int?) {
        self.code = code
        self.reason = reason
        self.message = message
        self.output = output
        self.secondsLeft = secondsLeft
    }

    private enum CodingKeys: String, CodingKey {
        case code
        case reason
        case message
        case output
        case secondsLeft = "seconds_left"
    }
}
