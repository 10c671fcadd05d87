#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Measures momentary, short-term and gated loudness as defined by ITU-R BS.1770-4 and EBU Tech 3341.
///
/// Steps are 100 ms long. The gated loudness is that of the last 400 ms blocks above the absolute gate, without those
/// more than 10 LU below the mean of the others.
struct LoudnessMeter: Sendable {
    /// Samples per step.
    private static let step = 4800
    private static let stepsOfBlock = 4
    private static let stepsOfShortTerm = 30

    /// The loudness of digital silence, in LUFS.
    static let silence = -127.0

    private let gate: Double
    private let memory: Int
    /// Separates speech from noise; nil counts everything above the gate.
    private var speech: VoiceActivityGate?
    private var weighting = KWeighting()
    private var energy = 0.0
    private var count = 0
    /// Mean squares of the last steps, circular.
    private var steps: [Double] = []
    private var stepIndex = 0
    /// Mean squares of the last blocks above the gate, circular.
    private var blocks: [Double] = []
    private var blockIndex = 0
    /// Steps measured so far.
    private(set) var measured = 0
    /// Whether the last block counted.
    private(set) var isCounting = false
    /// The gated loudness of the remembered blocks in LUFS; nil before the first above the gate.
    ///
    /// Computed once per block, for it is read with each quantum.
    private(set) var gated: Double?

    /// - Parameters:
    ///   - memory: The number of blocks of the gated loudness; one comes each 100 ms.
    ///   - gate: The absolute gate in LUFS.
    ///   - onlySpeech: Blocks that are likely to be room noise are ignored.
    init(memory: Int, gate: Double = -70, onlySpeech: Bool = false) {
        self.memory = max(memory, 1)
        self.gate = gate
        speech = onlySpeech ? VoiceActivityGate() : nil
        steps.reserveCapacity(Self.stepsOfShortTerm)
    }

    /// Adds the next `count` samples.
    mutating func add(_ left: UnsafePointer<Float>, _ right: UnsafePointer<Float>, count: Int) {
        var done = 0
        while done < count {
            let part = min(count - done, Self.step - self.count)
            energy += weighting.energy(left + done, right + done, count: part)
            self.count += part
            done += part
            if self.count == Self.step { finishStep() }
        }
    }

    private mutating func finishStep() {
        Self.store(energy / Double(Self.step), in: &steps, at: &stepIndex, capacity: Self.stepsOfShortTerm)
        energy = 0
        count = 0
        measured += 1
        guard measured >= Self.stepsOfBlock else { return }
        let block = mean(of: Self.stepsOfBlock)
        let loudness = Self.loudness(block)
        isCounting = loudness >= gate
        if isCounting, var speech {
            isCounting = speech.passes(loudness, spread: spread)
            self.speech = speech
        }
        guard isCounting else { return }
        Self.store(block, in: &blocks, at: &blockIndex, capacity: memory)
        let gated = gatedLoudness
        self.gated = gated
        // A knock before the first word is no reference for what follows.
        if blocks.count >= Self.stepsOfShortTerm { speech?.update(gated) }
    }

    /// LU between the loud and the quiet steps of the last three seconds, without the loudest and the quietest tenth.
    private var spread: Double {
        let sorted = steps.sorted()
        let edge = sorted.count / 10
        guard let quiet = sorted.dropFirst(edge).first, let loud = sorted.dropLast(edge).last else { return 0 }
        return Self.loudness(loud) - Self.loudness(quiet)
    }

    private static func store(_ value: Double, in ring: inout [Double], at index: inout Int, capacity: Int) {
        if ring.count < capacity { ring.append(value) } else { ring[index] = value }
        index = (index + 1) % capacity
    }

    /// LUFS of the last 400 ms; `silence` before.
    var momentary: Double {
        measured >= Self.stepsOfBlock ? Self.loudness(mean(of: Self.stepsOfBlock)) : Self.silence
    }

    /// LUFS of the last three seconds; `silence` before.
    var shortTerm: Double {
        measured >= Self.stepsOfShortTerm ? Self.loudness(mean(of: Self.stepsOfShortTerm)) : Self.silence
    }

    private var gatedLoudness: Double {
        let all = blocks.reduce(0, +) / Double(blocks.count)
        let least = all / 10  // 10 LU as a ratio of energies.
        var (sum, count) = (0.0, 0)
        for block in blocks where block >= least {
            sum += block
            count += 1
        }
        return Self.loudness(sum / Double(max(count, 1)))
    }

    private func mean(of count: Int) -> Double {
        var sum = 0.0
        for back in 1...count {
            sum += steps[(stepIndex - back + Self.stepsOfShortTerm) % Self.stepsOfShortTerm]
        }
        return sum / Double(count)
    }

    private static func loudness(_ meanSquare: Double) -> Double {
        guard meanSquare > 0 else { return silence }
        return max(-0.691 + 10 * log10(meanSquare), silence)
    }
}

/// The K-weighting filters of ITU-R BS.1770-4, annex 1, at 48 kHz: a high shelf and a high-pass.
///
/// Computes the weighted energy of both channels.
struct KWeighting: Sendable {
    private typealias Pair = SIMD2<Double>

    /// A second-order filter of both channels, transposed direct form II.
    private struct Section {
        let b0: Double
        let a1: Double
        let a2: Double
        /// The factors from the input to the next states, with the path by way of the output included: so no state has
        /// to wait for the output.
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

        /// Clears denormal states, which are inaudible and slow.
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

    /// Returns the weighted sum of the squares of the next `count` samples; 0 after NaN, which resets the filters.
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
