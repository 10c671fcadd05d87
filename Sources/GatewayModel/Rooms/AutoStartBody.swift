/// What a room begins by itself.
public struct AutoStartBody: Codable, Sendable, Hashable {
    /// The outputs to push to.
    public var livestream: StartLivestreamBody?
    /// The playlist for the audience.
    public var hls: StartHLSBody?

    /// Makes a body; what is left out is nil.
    public init(livestream: StartLivestreamBody? = nil, hls: StartHLSBody? = nil) {
        self.livestream = livestream
        self.hls = hls
    }

    private enum CodingKeys: String, CodingKey {
        case livestream
        case hls
    }
}
