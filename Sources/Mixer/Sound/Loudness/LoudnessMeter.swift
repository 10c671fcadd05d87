#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Measures loudness as ITU-R BS.1770-4 and EBU Tech 3341 define it: momentary, short-term, and gated over a memory.
///
/// Steps are of 100 ms. The gated loudness is that of the last blocks of 400 ms which were above the gate, those left
/// out that are more than 10 LU below the mean of the others: what somebody speaks like while speaking.
struct LoudnessMeter: Sendable {
    /// Samples of a step.
    private static let step = 4800
    private static let stepsOfBlock = 4
    private static let stepsOfShortTerm = 30

    /// The loudness of no sound at all, in LUFS.
    static let silence = -127.0

    private let gate: Double
    private let memory: Int
    /// Tells speech from noise; nil counts all that is above the gate.
    private var speech: SpeechGate?
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
    /// The last block counted.
    private(set) var isCounting = false
    /// LUFS of the blocks remembered, gated; nil before the first above the gate.
    ///
    /// Found out once for each block, since it is asked for with each quantum.
    private(set) var gated: Double?

    /// - Parameters:
    ///   - memory: Blocks that the gated loudness is taken of; one comes each 100 ms.
    ///   - gate: Blocks below this many LUFS do not count.
    ///   - onlySpeech: Nor do those that are most likely the noise of a room.
    init(memory: Int, gate: Double = -70, onlySpeech: Bool = false) {
        self.memory = max(memory, 1)
        self.gate = gate
        speech = onlySpeech ? SpeechGate() : nil
        steps.reserveCapacity(Self.stepsOfShortTerm)
    }

    /// Takes in the next `count` samples.
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
        // A knock before the first word is no measure of what follows.
        if blocks.count >= Self.stepsOfShortTerm { speech?.hear(gated) }
    }

    /// LU between the loud and the quiet of the last three seconds, the loudest and quietest tenth of it left out.
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

    /// LUFS of the last 400 ms; `silence` until there are so many.
    var momentary: Double {
        measured >= Self.stepsOfBlock ? Self.loudness(mean(of: Self.stepsOfBlock)) : Self.silence
    }

    /// LUFS of the last three seconds; `silence` until there are so many.
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
