/// The query of a request target, read without allocating for the items nobody asks for.
struct QueryItems {
    private let query: Substring

    /// - Parameter target: The request target: path, and a query behind `?`.
    init(target: String) {
        guard let mark = target.firstIndex(of: "?") else {
            query = ""
            return
        }
        query = target[target.index(after: mark)...]
    }

    /// The first value of that name, as written; the values read here are URL-safe by construction.
    subscript(name: String) -> String? {
        for item in query.split(separator: "&") {
            guard let equals = item.firstIndex(of: "="), item[..<equals] == name else { continue }
            return String(item[item.index(after: equals)...])
        }
        return nil
    }
}
