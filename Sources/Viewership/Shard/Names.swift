/// Renditions and regions by number, so that a cell's key is small; 0 is the empty name.
struct Names: Sendable {
    /// Names beyond these have no number of their own and are taken for the empty one.
    private static let limit = 4096
    /// Bytes of a name.
    private static let length = 64

    private(set) var all = [""]
    private var places: [String: UInt16] = [:]

    /// The number of a name.
    mutating func number(of name: String?) -> UInt16 {
        guard let name, !name.isEmpty else { return 0 }
        if let place = places[name] { return place }
        guard all.count < Self.limit, name.utf8.count <= Self.length else { return 0 }
        let place = UInt16(all.count)
        all.append(name)
        places[name] = place
        return place
    }

    subscript(number: UInt16) -> String { all[Int(number)] }
}
