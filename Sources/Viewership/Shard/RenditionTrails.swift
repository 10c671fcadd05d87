/// The lists of renditions that sessions played, by number: many sessions have one in common.
///
/// Who plays another one goes on to the list that has it at the end. A list is made once, so that a session needs two
/// bytes for its own, and telling it costs nothing.
struct RenditionTrails {
    /// Renditions of a list; of those beyond nothing is told.
    static let length = 8
    /// Lists beyond these are not made: who would need one keeps what it has.
    private static let limit = 4096

    private struct Step: Hashable {
        var trail: UInt16
        var name: String
    }

    /// The first of them is of a session that has not played anything.
    private var lists: [[String]] = [[]]
    private var steps: [Step: UInt16] = [:]

    /// The names, in the order in which they were first played.
    subscript(trail: UInt16) -> [String] { lists[Int(trail)] }

    /// The number of the list that `name` is in.
    mutating func trail(_ trail: UInt16, adding name: String) -> UInt16 {
        let list = lists[Int(trail)]
        guard list.count < Self.length, !list.contains(name) else { return trail }
        let step = Step(trail: trail, name: name)
        if let known = steps[step] { return known }
        guard lists.count < Self.limit else { return trail }
        let next = UInt16(lists.count)
        lists.append(list + [name])
        steps[step] = next
        return next
    }
}
