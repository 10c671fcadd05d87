/// A set of measured values.
struct Samples {
    private(set) var values: [Double] = []

    init(_ values: [Double] = []) {
        self.values = values
    }

    mutating func add(_ value: Double) {
        values.append(value)
    }

    var isEmpty: Bool { values.isEmpty }
    var median: Double { percentile(50) }
    var largest: Double { values.max() ?? .nan }

    /// The smallest value that at least `percent` of a hundred values do not exceed; not a number without values.
    func percentile(_ percent: Double) -> Double {
        guard !values.isEmpty else { return .nan }
        let sorted = values.sorted()
        let rank = Int((percent / 100 * Double(sorted.count)).rounded(.up)) - 1
        return sorted[min(max(rank, 0), sorted.count - 1)]
    }
}
