/// What one host may send at most.
public struct HostLimits: Sendable, Hashable {
    /// Picture and sound together, in kb/s.
    public var bitrate: Int
    /// The longer edge of a picture, in pixels.
    public var longerSide: Int
    /// The shorter edge of a picture, in pixels.
    public var shorterSide: Int

    /// Makes limits; by default those of ingest.
    public init(bitrate: Int = 12_000, longerSide: Int = 1920, shorterSide: Int = 1080) {
        self.bitrate = bitrate
        self.longerSide = longerSide
        self.shorterSide = shorterSide
    }
}
