/// What a client would send at most.
public struct ConnectOptionsBody: Codable, Sendable, Hashable {
    /// Kilobits a second of picture and sound together, 100 or more.
    public var maxBitrate: Int?
    /// Pixels, even.
    public var width: Int?
    /// Pixels, even.
    public var height: Int?

    /// Makes a body; what is left out is nil.
    public init(maxBitrate: Int? = nil, width: Int? = nil, height: Int? = nil) {
        self.maxBitrate = maxBitrate
        self.width = width
        self.height = height
    }

    private enum CodingKeys: String, CodingKey {
        case maxBitrate = "max_bitrate"
        case width
        case height
    }
}
