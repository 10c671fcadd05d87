/// The body of `PUT /v1/rooms/{room}/participants/{participant}/tracks/{track}`.
public struct PublishTrackBody: Codable, Sendable, Hashable {
    /// `audio` or `video`; the track's own when left out.
    public var kind: String?
    /// Not muted; true when left out.
    public var enabled: Bool?

    /// Makes a body; what is left out is nil.
    public init(kind: String? = nil, enabled: Bool? = nil) {
        self.kind = kind
        self.enabled = enabled
    }

    private enum CodingKeys: String, CodingKey {
        case kind
        case enabled
    }
}
