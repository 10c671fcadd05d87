/// The body of `POST /v1/rooms/{room}/participants/{participant}/mode`.
public struct ModeBody: Codable, Sendable, Hashable {
    /// The mode to change to.
    public var mode: String

    /// Makes a body.
    public init(mode: String) {
        self.mode = mode
    }

    private enum CodingKeys: String, CodingKey {
        case mode
    }
}
