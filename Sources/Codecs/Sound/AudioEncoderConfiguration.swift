/// How the program's sound is coded: AAC-LC, 48 kHz, stereo.
public struct AudioEncoderConfiguration: Sendable, Hashable {
    /// Bits per second, 32 000 to 320 000.
    public var bitrate: Int

    /// - Parameter bitrate: Bits per second.
    public init(bitrate: Int = 128_000) {
        self.bitrate = bitrate
    }
}
