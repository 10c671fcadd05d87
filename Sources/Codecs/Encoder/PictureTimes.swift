/// Remembers which time each picture number had, for packets that come out later or in another order.
struct PictureTimes {
    private static let capacity = 256

    private let numerator: Int64
    private let denominator: Int64
    private var entries: [(index: Int64, milliseconds: Int64)?] = Array(repeating: nil, count: capacity)
    private var latest: (index: Int64, milliseconds: Int64) = (0, 0)

    /// - Parameters:
    ///   - numerator: Pictures in `denominator` seconds.
    ///   - denominator: Above zero.
    init(numerator: Int, denominator: Int) {
        self.numerator = Int64(numerator)
        self.denominator = Int64(denominator)
    }

    mutating func remember(_ index: Int64, _ milliseconds: Int64) {
        latest = (index, milliseconds)
        entries[Self.slot(index)] = latest
    }

    /// The time given for `index`; for a number that never came (the decode time of the first reordered pictures lies
    /// before them) counted from the latest one.
    func milliseconds(of index: Int64) -> Int64 {
        if let entry = entries[Self.slot(index)], entry.index == index { return entry.milliseconds }
        return latest.milliseconds + (index - latest.index) * 1000 * denominator / numerator
    }

    private static func slot(_ index: Int64) -> Int {
        Int(truncatingIfNeeded: index & Int64(capacity - 1))
    }
}
