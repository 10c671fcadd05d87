/// The answer of `GET /v1/rooms/{room}/egress`.
public struct EgressResource: Codable, Sendable, Hashable {
    /// The program leaves by an output.
    public var broadcasting: Bool
    /// The outputs.
    public var livestream: LivestreamResource

    /// Makes an answer.
    public init(broadcasting: Bool, livestream: LivestreamResource) {
        self.broadcasting = broadcasting
        self.livestream = livestream
    }

    private enum CodingKeys: String, CodingKey {
        case broadcasting
        case livestream
    }
}
