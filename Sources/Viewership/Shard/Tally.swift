/// Numbers that are added up and taken from each other together; one function says which they are.
protocol Tally: AdditiveArithmetic, Sendable {
    /// Adds each number of `other`, `factor` times, to the same number here.
    mutating func add(_ other: Self, times factor: Int)
}

extension Tally {
    static func + (one: Self, other: Self) -> Self {
        var sum = one
        sum.add(other, times: 1)
        return sum
    }

    static func - (one: Self, other: Self) -> Self {
        var difference = one
        difference.add(other, times: -1)
        return difference
    }

    static func += (one: inout Self, other: Self) {
        one.add(other, times: 1)
    }

    static func -= (one: inout Self, other: Self) {
        one.add(other, times: -1)
    }
}
