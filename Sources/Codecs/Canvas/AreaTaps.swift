/// How a line of samples becomes a shorter one: each the mean of the stretch that it covers.
///
/// Up to four samples make one, which is enough down to a third. Weights are 128ths that add up to 128, none above 127.
/// The memory is written by `init` alone.
final class AreaTaps {
    /// Samples at most that make one.
    static let most = 4
    /// Samples of a group, whose sources lie within 16.
    private static let groupLength = 4

    let source: Int
    let target: Int
    /// For each sample the first of those that make it.
    let firsts: UnsafeMutablePointer<Int>
    /// For each sample the weights of four.
    let weights: UnsafeMutablePointer<Int8>
    /// For each group of four samples the first of those that make them; an even number.
    let starts: UnsafeMutablePointer<Int32>
    /// For each weight where its sample is, counted from the group's start; 128 where there is no weight.
    let places: UnsafeMutablePointer<UInt8>

    /// - Parameters:
    ///   - source: Samples.
    ///   - target: Fewer samples, at least a third.
    init(source: Int, target: Int) {
        self.source = source
        self.target = target
        // A whole number of pairs of groups; those past the end have no weight.
        let pair = 2 * Self.groupLength
        let padded = (target + pair - 1) / pair * pair
        firsts = .allocate(capacity: padded)
        weights = .allocate(capacity: padded * Self.most)
        starts = .allocate(capacity: padded / Self.groupLength)
        places = .allocate(capacity: padded * Self.most)
        firsts.initialize(repeating: 0, count: padded)
        weights.initialize(repeating: 0, count: padded * Self.most)
        starts.initialize(repeating: 0, count: padded / Self.groupLength)
        places.initialize(repeating: 128, count: padded * Self.most)
        for index in 0..<target { fill(index) }
    }

    deinit {
        firsts.deallocate()
        weights.deallocate()
        starts.deallocate()
        places.deallocate()
    }

    private func fill(_ index: Int) {
        // In units in which a source sample is `target` long and one of ours `source`.
        let (begin, end) = (index * source, (index + 1) * source)
        let first = begin / target
        firsts[index] = first
        let group = index / Self.groupLength
        if index % Self.groupLength == 0 { starts[group] = Int32(first) }
        var given = 0
        for tap in 0..<Self.most {
            let covered = min(max((first + tap + 1) * target, begin), end) - begin
            // The sums are rounded and not their parts, so that nothing is lost.
            let sum = (covered * 256 / source + 1) / 2
            guard sum > given else { continue }
            weights[index * Self.most + tap] = Int8(min(sum - given, 127))
            places[index * Self.most + tap] = UInt8(first + tap - Int(starts[group]))
            given = sum
        }
        limit(index)
    }

    /// A weight of 128 is one too many: a neighbour gets 1.
    private func limit(_ index: Int) {
        let own = index * Self.most..<(index + 1) * Self.most
        guard own.reduce(0, { $0 + Int(weights[$1]) }) < 128, let whole = own.first(where: { weights[$0] == 127 })
        else { return }
        let other = whole == own.lowerBound ? whole + 1 : whole - 1
        weights[other] = 1
        // As far from it as its tap is; a line ends with all of a sample only if it begins with all of one too.
        places[other] = other > whole ? min(places[whole] + 1, 15) : places[whole] - 1
    }
}
