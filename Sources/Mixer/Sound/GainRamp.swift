/// A gain that moves evenly to its target in 15 ms, so that switching never clicks.
struct GainRamp: Sendable {
    private static let step: Float = 1 / 720

    private(set) var gain: Float
    var target: Float

    init(gain: Float = 0) {
        self.gain = gain
        target = gain
    }

    /// Nothing is heard, and nothing is going to be.
    var isSilent: Bool { gain == 0 && target == 0 }

    /// Adds `count` samples of `source` to `sum`, multiplied by the gain as it moves.
    mutating func add(
        _ left: UnsafePointer<Float>,
        _ right: UnsafePointer<Float>,
        to sumLeft: UnsafeMutablePointer<Float>,
        _ sumRight: UnsafeMutablePointer<Float>,
        count: Int
    ) {
        var index = 0
        while index < count, gain != target {
            gain = gain < target ? min(gain + Self.step, target) : max(gain - Self.step, target)
            sumLeft[index] += left[index] * gain
            sumRight[index] += right[index] * gain
            index += 1
        }
        guard index < count, gain != 0 else { return }
        Self.add(left + index, gain, to: sumLeft + index, count: count - index)
        Self.add(right + index, gain, to: sumRight + index, count: count - index)
    }

    private static func add(
        _ source: UnsafePointer<Float>,
        _ gain: Float,
        to sum: UnsafeMutablePointer<Float>,
        count: Int
    ) {
        let width = 8
        let factor = SIMD8<Float>(repeating: gain)
        var index = 0
        while index + width <= count {
            let from = UnsafeRawPointer(source + index).loadUnaligned(as: SIMD8<Float>.self)
            let to = UnsafeMutableRawPointer(sum + index)
            to.storeBytes(of: to.loadUnaligned(as: SIMD8<Float>.self) + from * factor, as: SIMD8<Float>.self)
            index += width
        }
        while index < count {
            sum[index] += source[index] * gain
            index += 1
        }
    }
}
