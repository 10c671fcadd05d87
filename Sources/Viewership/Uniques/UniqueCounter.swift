/// How many distinct viewers there were: exact up to a limit, and an estimate from there.
struct UniqueCounter: Sendable {
    static let exactLimit = 1_000_000

    private let limit: Int
    private var exact = HashPages()
    private var estimate: HyperLogLog?

    init(limit: Int = exactLimit) {
        self.limit = limit
    }

    var isApproximate: Bool { estimate != nil }
    var count: Int { estimate?.estimate ?? exact.count }

    mutating func insert(_ value: UInt64) {
        // Hashes of ours are random already; session codes too.
        if estimate != nil {
            estimate?.insert(value)
            return
        }
        exact.insert(value)
        guard exact.count > limit else { return }
        var estimate = HyperLogLog()
        for value in exact.values { estimate.insert(value) }
        self.estimate = estimate
        exact = HashPages()
    }
}
