/// What is written on the tiles.
public struct OverlaysResource: Codable, Sendable, Hashable {
    /// The host's display name.
    public var name: Bool
    /// Whether the microphone is heard.
    public var mic: Bool

    /// Makes a choice.
    public init(name: Bool, mic: Bool) {
        self.name = name
        self.mic = mic
    }

    private enum CodingKeys: String, CodingKey {
        case name
        case mic
    }
}
