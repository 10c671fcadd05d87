/// Where a part stands: in which segment, and at which place there.
public struct PartPosition: Sendable, Hashable, Comparable {
    /// Media sequence number of its segment.
    public var sequence: Int
    /// Its place in that segment, from 0.
    public var index: Int

    /// Makes one from its parts.
    public init(sequence: Int, index: Int) {
        self.sequence = sequence
        self.index = index
    }

    /// The file name of the part that stands there.
    public var name: String { MediaName.part(sequence, index).text }

    /// Whether `left` comes before `right`.
    public static func < (left: PartPosition, right: PartPosition) -> Bool {
        (left.sequence, left.index) < (right.sequence, right.index)
    }
}
