/// How a host's media keeps time, as the mixer measures it.
public struct HostSync: Sendable, Hashable {
    /// Milliseconds for which its media is to be held back.
    public var target: Double
    /// Milliseconds by which the host's clock is mapped later than at its first packet.
    public var offset: Double
    /// Parts per million by which the host's clock runs faster than the program's.
    public var drift: Double
    /// Milliseconds of media that wait for their time.
    public var buffer: Double
    /// Pictures and frames of sound that came after their time.
    public var late: Int
    /// Pictures that were shown once more because none was there.
    public var duplicated: Int
    /// Pictures and frames of sound that were left out.
    public var dropped: Int

    /// Makes a measurement.
    public init(
        target: Double = 300,
        offset: Double,
        drift: Double,
        buffer: Double,
        late: Int,
        duplicated: Int,
        dropped: Int
    ) {
        self.target = target
        self.offset = offset
        self.drift = drift
        self.buffer = buffer
        self.late = late
        self.duplicated = duplicated
        self.dropped = dropped
    }
}
