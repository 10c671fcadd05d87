/// One number for each reason why something that played did not count.
struct PerExclusion: Sendable, Equatable, AdditiveArithmetic {
    static let zero = PerExclusion()

    private var values: (head: Int, role: Int, prefetch: Int, agent: Int, unqualified: Int, surplus: Int) =
        (0, 0, 0, 0, 0, 0)

    var sum: Int { Exclusion.allCases.reduce(0) { $0 + self[$1] } }

    subscript(reason: Exclusion) -> Int {
        get {
            switch reason {
            case .head: values.head
            case .role: values.role
            case .prefetch: values.prefetch
            case .agent: values.agent
            case .unqualified: values.unqualified
            case .surplus: values.surplus
            }
        }
        set {
            switch reason {
            case .head: values.head = newValue
            case .role: values.role = newValue
            case .prefetch: values.prefetch = newValue
            case .agent: values.agent = newValue
            case .unqualified: values.unqualified = newValue
            case .surplus: values.surplus = newValue
            }
        }
    }

    static func == (one: PerExclusion, other: PerExclusion) -> Bool {
        Exclusion.allCases.allSatisfy { one[$0] == other[$0] }
    }

    static func + (one: PerExclusion, other: PerExclusion) -> PerExclusion {
        var result = one
        for reason in Exclusion.allCases { result[reason] += other[reason] }
        return result
    }

    static func - (one: PerExclusion, other: PerExclusion) -> PerExclusion {
        var result = one
        for reason in Exclusion.allCases { result[reason] -= other[reason] }
        return result
    }
}
