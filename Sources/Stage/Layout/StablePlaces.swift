/// Puts the members of a new list into places so that those who stay move as little as possible.
public enum StablePlaces {
    /// The elements of `next`, rearranged: each that `previous` also holds keeps its index there if the new list still has
    /// that index; the free indices are filled with the others in the order of `next`.
    ///
    /// - Parameters:
    ///   - previous: Who was where.
    ///   - next: Who is to be shown now, the most important first; without duplicates.
    public static func arrange<Element: Hashable>(previous: [Element], next: [Element]) -> [Element] {
        let kept = min(previous.count, next.count)
        let wanted = Set(next)
        var places = [Element?](repeating: nil, count: next.count)
        var placed = Set<Element>()
        for index in 0..<kept where wanted.contains(previous[index]) {
            places[index] = previous[index]
            placed.insert(previous[index])
        }
        var others = next.lazy.filter { !placed.contains($0) }.makeIterator()
        return places.compactMap { $0 ?? others.next() }
    }
}
