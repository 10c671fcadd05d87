/// The body of `POST /v1/rooms/{room}/hls/start`.
public struct StartHLSBody: Codable, Sendable, Hashable {
    /// Changes the room's layout at once.
    public var layout: LayoutBody?

    /// Makes a body; what is left out is nil.
    public init(layout: LayoutBody? = nil) {
        self.layout = layout
    }

    private enum CodingKeys: String, CodingKey {
        case layout
    }
}
