/// The body of `POST /v1/rooms/{room}/layout/preview`: an arrangement, and the hosts it is to be tried with.
public struct LayoutPreviewBody: Codable, Sendable, Hashable {
    /// What is left out is as the room has it.
    public var layout: LayoutBody?
    /// In join order; the hosts of the room when left out.
    public var hosts: [PreviewHost]?

    /// Makes a body; what is left out is nil.
    public init(layout: LayoutBody? = nil, hosts: [PreviewHost]? = nil) {
        self.layout = layout
        self.hosts = hosts
    }

    private enum CodingKeys: String, CodingKey {
        case layout
        case hosts
    }
}
