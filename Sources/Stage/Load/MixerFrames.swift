/// What became of a program's pictures since its mixer began.
public struct MixerFrames: Sendable, Hashable {
    /// Where pictures are lost.
    public enum Loss: String, Sendable, Hashable, CaseIterable {
        /// It could not be composed in time; the one before was shown again.
        case compose
        /// Too many waited for the coder.
        case encode
        /// The program does with fewer pictures, for want of processor time.
        case degrade
        /// The coder of a rendition could not keep up.
        case rendition
        /// The program was more than a second late, and went on without them.
        case jump
    }

    /// Upper bounds of `counts`, seconds.
    public static let bounds = [0.002, 0.005, 0.01, 0.015, 0.02, 0.025, 0.033, 0.04, 0.05, 0.1, 0.25, 1]

    /// More pictures than any program has; what says more is not believed, and sums of it would overflow.
    private static let most = 1 << 50

    /// Pictures made, by how long that took, and in the last place those beyond the bounds.
    public private(set) var counts = [Int](repeating: 0, count: bounds.count + 1)
    /// Seconds of all together.
    public private(set) var seconds = 0.0
    /// Pictures that were not made.
    public var lost: [Loss: Int] = [:]

    /// None yet.
    public init() {}

    /// Those that were counted elsewhere; nil for counts of other bounds, or that nobody can have counted.
    public init?(counts: [Int], seconds: Double, lost: [Loss: Int]) {
        guard counts.count == Self.bounds.count + 1, counts.allSatisfy({ (0...Self.most).contains($0) }),
            seconds >= 0, seconds <= Double(Self.most)
        else { return nil }
        self.counts = counts
        self.seconds = seconds
        self.lost = lost.filter { (0...Self.most).contains($0.value) }
    }

    /// A picture was made in so many seconds.
    public mutating func insert(_ time: Double) {
        counts[Self.bounds.firstIndex { time <= $0 } ?? Self.bounds.count] += 1
        seconds += time
    }
}
