/// What became of a program's pictures since its mixer began.
public struct MixerFramesResource: Codable, Sendable, Hashable {
    /// Pictures made, by the time that took: up to 2, 5, 10, 15, 20, 25, 33, 40, 50, 100, 250 ms, a second, and more.
    public var counts: [Int]
    /// Seconds of all together.
    public var seconds: Double
    /// Pictures that were not made, by where they were lost: `compose`, `encode`, `degrade`, `rendition`, `jump`.
    public var lost: [String: Int]

    /// Makes figures.
    public init(counts: [Int], seconds: Double, lost: [String: Int]) {
        self.counts = counts
        self.seconds = seconds
        self.lost = lost
    }

    private enum CodingKeys: String, CodingKey {
        case counts
        case seconds
        case lost
    }
}
