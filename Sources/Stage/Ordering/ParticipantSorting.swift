extension Sequence where Element: RankedParticipant {
    /// The participants in the order of some rules; those who are the same to all of them keep their order.
    public func sorted(using comparators: [ParticipantComparator]) -> [Element] {
        sorted(using: comparators.combined)
    }

    /// The participants in the order of a rule; those who are the same to it keep their order.
    ///
    /// A merge from the bottom up: whatever the rule says, even one that contradicts itself, the result is a
    /// rearrangement of the same participants and always the same one.
    public func sorted(using comparator: ParticipantComparator) -> [Element] {
        var sorted = map { (element: $0, order: $0.order) }
        var length = 1
        while length < sorted.count {
            var merged: [(element: Element, order: ParticipantOrder)] = []
            merged.reserveCapacity(sorted.count)
            for start in stride(from: 0, to: sorted.count, by: 2 * length) {
                let middle = Swift.min(start + length, sorted.count)
                let end = Swift.min(start + 2 * length, sorted.count)
                var (left, right) = (start, middle)
                while left < middle, right < end {
                    let isInOrder = comparator.compare(sorted[left].order, sorted[right].order) != .orderedDescending
                    merged.append(isInOrder ? sorted[left] : sorted[right])
                    if isInOrder { left += 1 } else { right += 1 }
                }
                merged.append(contentsOf: sorted[left..<middle])
                merged.append(contentsOf: sorted[right..<end])
            }
            sorted = merged
            length *= 2
        }
        return sorted.map(\.element)
    }
}
