/// The body of `PATCH /v1/rooms/{room}/participants/{participant}/tracks/{track}`.
public struct UpdateTrackBody: Codable, Sendable, Hashable {
    /// Not muted.
    public var enabled: Bool

    /// Makes a body.
    public init(enabled: Bool) {
        self.enabled = enabled
    }

    private enum CodingKeys: String, CodingKey {
        case enabled
    }
}
