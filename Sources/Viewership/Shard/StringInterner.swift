/// Maps renditions and regions to numbers, so that the key of a cell is small; 0 is the empty name.
struct StringInterner: Sendable {
    /// The maximum number of names; further ones map to the empty name.
    private static let limit = 4096
    /// The maximum length of a name, in bytes.
    private static let length = 64

    private(set) var all = [""]
    private var numbers: [String: UInt16] = [:]

    /// Returns the number of a name.
    mutating func number(of name: String?) -> UInt16 {
        guard let name, !name.isEmpty else { return 0 }
        if let index = numbers[name] { return index }
        guard all.count < Self.limit, name.utf8.count <= Self.length else { return 0 }
        let index = UInt16(all.count)
        all.append(name)
        numbers[name] = index
        return index
    }

    subscript(number: UInt16) -> String { all[Int(number)] }
}

/// Maps lists of played renditions to numbers; many sessions share a list.
///
/// Playing another rendition leads to the list that has it appended. Lists are immutable, so that a session needs two
/// bytes for its history.
struct RenditionHistories {
    /// The maximum length of a list.
    static let length = 8
    /// The maximum number of lists; beyond it sessions keep the list they have.
    private static let limit = 4096

    private struct Step: Hashable {
        var renditionHistory: UInt16
        var name: String
    }

    /// The lists; the first one is empty.
    private var lists: [[String]] = [[]]
    private var steps: [Step: UInt16] = [:]

    /// The renditions, in order of first playback.
    subscript(renditionHistory: UInt16) -> [String] { lists[Int(renditionHistory)] }

    /// Returns the number of the list with `name` appended, unless it is in the list.
    mutating func extend(_ renditionHistory: UInt16, adding name: String) -> UInt16 {
        let list = lists[Int(renditionHistory)]
        guard list.count < Self.length, !list.contains(name) else { return renditionHistory }
        let step = Step(renditionHistory: renditionHistory, name: name)
        if let known = steps[step] { return known }
        guard lists.count < Self.limit else { return renditionHistory }
        let next = UInt16(lists.count)
        lists.append(list + [name])
        steps[step] = next
        return next
    }
}
