/// Why an output has no connection, or had none.
public struct OutputFaultResource: Codable, Sendable, Hashable {
    /// `key_refused`, `application_refused`, `hung_up`, `certificate`, `invalid_address`, `forbidden_address`,
    /// `name_not_found`, `unreachable`, `timed_out`, `connection_lost`, `stalled` or `local`.
    public var code: String
    /// In words, for people.
    public var message: String
    /// `soon`, or `slow` when somebody has to change something first.
    public var retry: String

    /// Makes a fault.
    public init(code: String, message: String, retry: String) {
        self.code = code
        self.message = message
        self.retry = retry
    }

    private enum CodingKeys: String, CodingKey {
        case code
        case message
        case retry
    }
}
