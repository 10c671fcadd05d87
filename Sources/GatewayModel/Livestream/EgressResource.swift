/// How the program leaves: the answer of `GET /v1/rooms/{room}/egress`.
public struct EgressResource: Codable, Sendable, Hashable {
    /// The program leaves by an output or a playlist.
    public var broadcasting: Bool
    /// The outputs.
    public var livestream: LivestreamResource
    /// The playlist.
    public var hls: HLSResource

    /// Makes an answer.
    public init(broadcasting: Bool, livestream: LivestreamResource, hls: HLSResource) {
        self.broadcasting = broadcasting
        self.livestream = livestream
        self.hls = hls
    }

    private enum CodingKeys: String, CodingKey {
        case broadcasting
        case livestream
        case hls
    }
}
