/// A gain that goes from one value to another along a smooth curve, over as many samples as it is applied to.
///
/// The curve begins and ends level, so a change over a quantum (11 ms) has nothing in it that is heard as a click.
struct GainCurve: Sendable, Equatable {
    static let silent = GainCurve(from: 0, to: 0)

    let from: Float
    let to: Float

    /// Nothing is heard, from beginning to end.
    var isSilent: Bool { from == 0 && to == 0 }

    /// The same with the sign turned: adding it takes away what the curve itself had added.
    var negated: GainCurve { GainCurve(from: -from, to: -to) }

    /// What is to be added beside `other` so that both together are this curve.
    func minus(_ other: GainCurve) -> GainCurve { GainCurve(from: from - other.from, to: to - other.to) }

    /// Adds `count` samples of `source`, multiplied by the gain as it moves, to `sum`.
    func add(_ source: borrowing StereoBuffer, to sum: borrowing StereoBuffer, count: Int) {
        guard !isSilent else { return }
        add(source.left, to: sum.left, count: count)
        add(source.right, to: sum.right, count: count)
    }

    private func add(_ source: UnsafePointer<Float>, to sum: UnsafeMutablePointer<Float>, count: Int) {
        let width = 8
        let step = 1 / Float(count)
        let change = to - from
        let three = SIMD8<Float>(repeating: 3)
        var way = SIMD8<Float>(1, 2, 3, 4, 5, 6, 7, 8) * step
        var index = 0
        while index + width <= count {
            var gain = SIMD8<Float>(repeating: from)
            if change != 0 {
                gain += (way * way * (three - 2 * way)) * change
                way += Float(width) * step
            }
            let place = UnsafeMutableRawPointer(sum + index)
            let samples = UnsafeRawPointer(source + index).loadUnaligned(as: SIMD8<Float>.self)
            place.storeBytes(
                of: place.loadUnaligned(as: SIMD8<Float>.self) + samples * gain,
                as: SIMD8<Float>.self
            )
            index += width
        }
        while index < count {
            let way = Float(index + 1) * step
            sum[index] += source[index] * (from + way * way * (3 - 2 * way) * change)
            index += 1
        }
    }
}
