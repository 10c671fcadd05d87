/// How one rendition of a program is doing.
public struct RenditionLoadResource: Codable, Sendable, Hashable {
    /// Such as `720p`.
    public var name: String
    /// Pictures that it was left without, because its coder was behind.
    public var dropped: Int

    /// Makes a rendition's load.
    public init(name: String, dropped: Int) {
        self.name = name
        self.dropped = dropped
    }

    private enum CodingKeys: String, CodingKey {
        case name
        case dropped
    }
}
