import Stage

/// One counter per exclusion reason.
struct ExclusionCounters: AdditiveCounters {
    static let zero = ExclusionCounters()

    private var head = 0
    private var role = 0
    private var prefetch = 0
    private var agent = 0
    private var unqualified = 0
    private var surplus = 0
    private var noMedia = 0

    var sum: Int { ExclusionReason.allCases.reduce(0) { $0 + self[$1] } }

    subscript(reason: ExclusionReason) -> Int {
        get {
            switch reason {
            case .head: head
            case .role: role
            case .prefetch: prefetch
            case .agent: agent
            case .unqualified: unqualified
            case .surplus: surplus
            case .noMedia: noMedia
            }
        }
        set {
            switch reason {
            case .head: head = newValue
            case .role: role = newValue
            case .prefetch: prefetch = newValue
            case .agent: agent = newValue
            case .unqualified: unqualified = newValue
            case .surplus: surplus = newValue
            case .noMedia: noMedia = newValue
            }
        }
    }

    mutating func add(_ other: ExclusionCounters, times factor: Int) {
        for reason in ExclusionReason.allCases { self[reason] += factor * other[reason] }
    }
}
