/// What a host may send at most.
public struct ConnectOptionsResource: Codable, Sendable, Hashable {
    /// Kilobits a second of picture and sound together.
    public var maxBitrate: Int
    /// Pixels.
    public var width: Int
    /// Pixels.
    public var height: Int

    /// Makes limits.
    public init(maxBitrate: Int, width: Int, height: Int) {
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
