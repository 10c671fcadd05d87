/// What a program looked and sounded like, every pixel and every sample of it, as numbers to compare.
public struct ProgramFingerprint: Sendable, Equatable {
    /// Over the canvases of all pictures and their numbers.
    public internal(set) var picture: UInt64 = 0
    /// Over all samples of both channels and their place in time.
    public internal(set) var sound: UInt64 = 0
    /// Pictures taken in.
    public internal(set) var pictures: Int64 = 0
    /// Samples of one channel taken in.
    public internal(set) var samples: Int64 = 0
}
