/// The body of `POST /v1/rooms/{room}/hands`, which may be left out.
public struct RaiseHandBody: Codable, Sendable, Hashable {
    /// Seconds it stays up, 10 to 3600; 300 when left out.
    public var timeout: Int?

    /// Makes a body; what is left out is nil.
    public init(timeout: Int? = nil) {
        self.timeout = timeout
    }

    private enum CodingKeys: String, CodingKey {
        case timeout
    }
}
