/// How many sessions each address has that are known by nothing but a name of its own making.
struct Strangers {
    private var counts: [UInt64: Int] = [:]
    private var sources: [Int32: UInt64] = [:]

    /// Sessions that came from there and are not forgotten yet.
    func count(of source: UInt64) -> Int { counts[source] ?? 0 }

    /// Whether the session at `place` is one of them.
    func contains(_ place: Int) -> Bool { sources[Int32(place)] != nil }

    mutating func add(_ place: Int, from source: UInt64) {
        sources[Int32(place)] = source
        counts[source, default: 0] += 1
    }

    /// The session at `place` is forgotten.
    mutating func release(_ place: Int) {
        guard !sources.isEmpty, let source = sources.removeValue(forKey: Int32(place)) else { return }
        let count = count(of: source) - 1
        counts[source] = count > 0 ? count : nil
    }
}
