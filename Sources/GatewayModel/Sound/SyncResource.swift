/// How a host's media keeps time, as the mixer measures it.
public struct SyncResource: Codable, Sendable, Hashable {
    /// Milliseconds for which its media is to be held back.
    public var targetMS: Double
    /// Milliseconds by which the host's clock is mapped later than at its first packet.
    public var offsetMS: Double
    /// Parts per million by which the host's clock runs faster than the program's.
    public var driftPPM: Double
    /// Milliseconds of media that wait for their time.
    public var bufferMS: Double
    /// Pictures and frames of sound that came after their time.
    public var late: Int
    /// Pictures that were shown once more because none was there.
    public var duplicated: Int
    /// Pictures and frames of sound that were left out.
    public var dropped: Int

    /// Makes a measurement.
    public init(
        targetMS: Double = 300,
        offsetMS: Double,
        driftPPM: Double,
        bufferMS: Double,
        late: Int,
        duplicated: Int,
        dropped: Int
    ) {
        self.targetMS = targetMS
        self.offsetMS = offsetMS
        self.driftPPM = driftPPM
        self.bufferMS = bufferMS
        self.late = late
        self.duplicated = duplicated
        self.dropped = dropped
    }

    private enum CodingKeys: String, CodingKey {
        case targetMS = "target_ms"
        case offsetMS = "offset_ms"
        case driftPPM = "drift_ppm"
        case bufferMS = "buffer_ms"
        case late
        case duplicated
        case dropped
    }
}
