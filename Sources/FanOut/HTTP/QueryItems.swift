/// The query of a request target, read without allocating for the items nobody asks for.
struct QueryItems: Sendable {
    private let query: Substring.UTF8View

    /// - Parameter target: The request target: path, and a query behind `?`.
    init(target: String) {
        let start = target.utf8.firstIndex(of: UInt8(ascii: "?")).map { target.utf8.index(after: $0) }
        query = target[(start ?? target.endIndex)...].utf8
    }

    /// The first value of that name, as written; the values read here are URL-safe by construction.
    subscript(name: String) -> String? {
        var rest = query[...]
        while !rest.isEmpty {
            let end = rest.firstIndex(of: UInt8(ascii: "&")) ?? rest.endIndex
            let item = rest[..<end]
            rest = rest[end...].dropFirst()
            guard item.starts(with: name.utf8) else { continue }
            let value = item.dropFirst(name.utf8.count)
            if value.first == UInt8(ascii: "=") { return String(Substring(value.dropFirst())) }
        }
        return nil
    }
}
