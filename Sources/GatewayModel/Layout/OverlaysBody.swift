/// What is to be written on the tiles; what is left out stays as it is.
public struct OverlaysBody: Codable, Sendable, Hashable {
    /// The host's display name.
    public var name: Bool?
    /// Whether the microphone is heard.
    public var mic: Bool?

    /// Makes a body; what is left out is nil.
    public init(name: Bool? = nil, mic: Bool? = nil) {
        self.name = name
        self.mic = mic
    }

    private enum CodingKeys: String, CodingKey {
        case name
        case mic
    }
}
