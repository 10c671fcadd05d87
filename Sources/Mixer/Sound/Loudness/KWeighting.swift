/// The two filters of ITU-R BS.1770-4, annex 1, at 48 kHz: a head's effect, and less of the lowest frequencies.
///
/// Gives the energy of what passes, both channels added.
struct KWeighting: Sendable {
    private typealias Pair = SIMD2<Double>

    /// One second-order filter of both channels, transposed direct form II.
    private struct Section {
        let b0: Double
        let a1: Double
        let a2: Double
        /// What of the input goes into the next state, that by way of the output included: so no state has to wait for
        /// an output, and the next sample not for this one's.
        let toFirst: Double
        let toSecond: Double
        var first = Pair()
        var second = Pair()

        init(b0: Double, b1: Double, b2: Double, a1: Double, a2: Double) {
            (self.b0, self.a1, self.a2) = (b0, a1, a2)
            (toFirst, toSecond) = (b1 - a1 * b0, b2 - a2 * b0)
        }

        mutating func apply(_ input: Pair) -> Pair {
            let output = b0 * input + first
            let next = (toFirst * input + second) - a1 * first
            second = toSecond * input - a2 * first
            first = next
            return output
        }

        /// Forgets what is too small to be heard, and too slow to be calculated with.
        mutating func settle() {
            let least = 1e-30
            if !(abs(first.x) > least || abs(first.y) > least || abs(second.x) > least || abs(second.y) > least) {
                first = Pair()
                second = Pair()
            }
        }
    }

    private var shelf = Section(
        b0: 1.53512485958697,
        b1: -2.69169618940638,
        b2: 1.19839281085285,
        a1: -1.69065929318241,
        a2: 0.73248077421585
    )
    private var highPass = Section(b0: 1, b1: -2, b2: 1, a1: -1.99004745483398, a2: 0.99007225036621)

    /// The sum of the squares of the next `count` samples, weighted; 0 for what is no number, which is forgotten.
    mutating func energy(_ left: UnsafePointer<Float>, _ right: UnsafePointer<Float>, count: Int) -> Double {
        var (shelf, highPass) = (shelf, highPass)
        var sum = Pair()
        for index in 0..<count {
            let weighted = highPass.apply(shelf.apply(Pair(Double(left[index]), Double(right[index]))))
            sum += weighted * weighted
        }
        let energy = sum.x + sum.y
        guard energy.isFinite else {
            self = KWeighting()
            return 0
        }
        shelf.settle()
        highPass.settle()
        (self.shelf, self.highPass) = (shelf, highPass)
        return energy
    }
}
