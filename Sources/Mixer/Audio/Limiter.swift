/// A stereo true-peak limiter with 5 ms of look-ahead.
///
/// The output is the input of 240 samples before, never above the ceiling of -1 dBTP, also between the samples: the
/// gain that a peak needs is held as a minimum over the look-ahead, released over 80 ms, and then averaged, so it is
/// reached smoothly at the peak. A hard clamp follows. NaN becomes silence. Below the ceiling the limiter is a pure
/// delay.
struct Limiter: ~Copyable, Sendable {
    /// Samples of delay.
    static let lookAhead = 240
    /// -1 dBFS.
    static let ceiling: Float = 0.891_250_94
    /// The target of peaks, 0.1 dB below the ceiling, since four points per sample underestimate slightly.
    private static let aim: Float = 0.881_05
    /// Samples for which a gain is held.
    private static let hold = lookAhead + 1
    /// Gains averaged: so many that the average is down for every sample that an estimate concerns.
    private static let window = hold - TruePeak.taps + 1
    private static let release: Float = 1 / (0.08 * 48_000)
    private static let ringSize = 256
    private static let inverseWindow = 1 / Double(window)

    private var truePeak = TruePeak()
    /// The last `lookAhead` samples in front of the present quantum.
    private let delay = StereoBuffer(capacity: lookAhead + ProgramTime.quantum)
    /// Gains of the last `window` samples, circular.
    private let gains = StereoBuffer(capacity: ringSize)
    /// Candidates for the sliding minimum: their gain and position, circular.
    private let candidates = StereoBuffer(capacity: ringSize)
    private let positions = PositionRing(capacity: ringSize)
    private var candidateHead = 0
    private var candidateCount = 0
    private var position: Int64 = 0
    private var held: Float = 1
    private var sum = Double(window)
    /// Samples since the gain was last below one, at most `window`.
    private var idle = window
    /// The minimum gain of the last quantum, for the statistics.
    private(set) var minimumGain: Float = 1

    init() {
        gains.left.update(repeating: 1, count: Self.ringSize)
    }

    /// Limits `count` samples (at most a quantum) in place.
    mutating func process(_ left: UnsafeMutablePointer<Float>, _ right: UnsafeMutablePointer<Float>, count: Int) {
        let loudest = Self.clean(left, right, count: count)
        let highest = truePeak.measure(left, right, count: count, loudest: loudest, above: Self.aim)
        delay(left, right, count: count, limiting: highest > Self.aim || idle < Self.window)
    }

    /// Replaces NaN by silence and returns the largest absolute sample.
    private static func clean(
        _ left: UnsafeMutablePointer<Float>,
        _ right: UnsafeMutablePointer<Float>,
        count: Int
    ) -> Float {
        var check = SIMD8<Float>()
        var index = 0
        while index + 8 <= count {
            // A number times zero is zero; NaN and infinity give NaN.
            check += SIMD8(loading: left + index) * 0 + SIMD8(loading: right + index) * 0
            index += 8
        }
        if check.sum() != 0 || index < count {
            for index in 0..<count {
                if !(abs(left[index]) < 1e6) { left[index] = 0 }
                if !(abs(right[index]) < 1e6) { right[index] = 0 }
            }
        }
        return max(SIMD8<Float>.loudest(left, count), SIMD8<Float>.loudest(right, count))
    }

    private mutating func delay(
        _ left: UnsafeMutablePointer<Float>,
        _ right: UnsafeMutablePointer<Float>,
        count: Int,
        limiting: Bool
    ) {
        let ahead = Self.lookAhead
        (delay.left + ahead).update(from: left, count: count)
        (delay.right + ahead).update(from: right, count: count)
        minimumGain = 1
        if limiting {
            let peaks = truePeak.peaks
            for index in 0..<count {
                let peak = peaks[index]
                let gain = nextGain(needed: peak > Self.aim ? Self.aim / peak : 1)
                minimumGain = min(minimumGain, gain)
                left[index] = Self.clamp(delay.left[index] * gain)
                right[index] = Self.clamp(delay.right[index] * gain)
            }
        } else {
            position += Int64(count)
            // Stale gains in the ring must not leave the window later.
            gains.left.update(repeating: 1, count: Self.ringSize)
            left.update(from: delay.left, count: count)
            right.update(from: delay.right, count: count)
        }
        delay.left.update(from: delay.left + count, count: ahead)
        delay.right.update(from: delay.right + count, count: ahead)
    }

    private mutating func nextGain(needed: Float) -> Float {
        let mask = Self.ringSize - 1
        // Sliding minimum: a candidate that is not smaller than the new one will never be the minimum again.
        while candidateCount > 0, candidates.left[(candidateHead + candidateCount - 1) & mask] >= needed {
            candidateCount -= 1
        }
        let slot = (candidateHead + candidateCount) & mask
        candidates.left[slot] = needed
        positions.values[slot] = position
        candidateCount += 1
        while positions.values[candidateHead] <= position - Int64(Self.hold) {
            candidateHead = (candidateHead + 1) & mask
            candidateCount -= 1
        }
        let minimum = candidates.left[candidateHead]
        held = min(minimum, held + (1 - held) * Self.release)
        if held > 0.9999, minimum == 1 { held = 1 }

        let index = Int(position & Int64(mask))
        let leaving = Int((position - Int64(Self.window)) & Int64(mask))
        sum += Double(held) - Double(gains.left[leaving])
        gains.left[index] = held
        position += 1
        idle = held < 1 ? 0 : idle + 1
        if idle >= Self.window {
            idle = Self.window
            sum = Double(Self.window)
            return 1
        }
        return min(Float(sum * Self.inverseWindow), 1)
    }

    private static func clamp(_ sample: Float) -> Float {
        min(max(sample, -ceiling), ceiling)
    }
}

/// A buffer of sample positions with one owner, without bounds checks.
///
/// `@unchecked Sendable`: a value that cannot be copied has one owner at a time.
struct PositionRing: ~Copyable, @unchecked Sendable {
    let values: UnsafeMutablePointer<Int64>

    init(capacity: Int) {
        values = .allocate(capacity: capacity)
        values.initialize(repeating: 0, count: capacity)
    }

    deinit { values.deallocate() }
}
