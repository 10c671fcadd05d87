/// The body of every refusal.
public struct ErrorAnswer: Codable, Sendable, Hashable {
    /// The refusal.
    public var error: ErrorResource

    /// Makes a body.
    public init(error: ErrorResource) {
        self.error = error
    }

    private enum CodingKeys: String, CodingKey {
        case error
    }
}
