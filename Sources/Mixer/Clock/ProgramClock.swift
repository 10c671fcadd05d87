import Media
import Stage

/// Determines what the program has to make next; it is independent of the hosts' clocks.
///
/// Frame n begins at the sample that `FrameRate` gives, a quantum of audio every 512 samples, both on one 48 kHz
/// counter that is tied to the monotonic clock once. A late caller catches up: missed audio is still mixed, missed
/// frames are repeats. After more than a second the counter jumps; its time never decreases.
struct ProgramClock: Sendable {
    /// The next action.
    enum Step: Sendable, Equatable {
        case wait(until: MonotonicTime)
        /// Mix the quantum of samples from `first`.
        case audio(first: Int64)
        /// Compose frame `index`, which begins at `sample`; when `isLate` its successor is due already.
        case frame(index: Int64, sample: Int64, isLate: Bool)
        /// The caller was more than a second late: time advances by `samples`, and nothing in between is made.
        case jump(samples: Int64)
    }

    let anchor: ProgramAnchor
    let frameRate: FrameRate
    private(set) var nextFrame: Int64
    private(set) var nextQuantum: Int64

    /// Samples of lateness beyond which the clock jumps instead of catching up.
    static let jumpAfter = ProgramTime.sampleRate

    init(anchor: ProgramAnchor, frameRate: FrameRate) {
        self.anchor = anchor
        self.frameRate = frameRate
        nextFrame = Self.frame(notBefore: anchor.firstSample, frameRate)
        nextQuantum = anchor.firstSample - ProgramTime.quantumPhase
    }

    /// Returns the next action at `now`; to be called again when it is done.
    mutating func next(at now: MonotonicTime) -> Step {
        let current = anchor.sample(at: now)
        let frameSample = frameRate.sample(ofFrame: nextFrame)
        let audioDue = nextQuantum - ProgramTime.audioLead
        if current - min(frameSample, audioDue) > Self.jumpAfter {
            return jump(to: current)
        }
        if audioDue <= frameSample {
            guard audioDue <= current else { return .wait(until: moment(notBefore: audioDue)) }
            defer { nextQuantum += Int64(ProgramTime.quantum) }
            return .audio(first: nextQuantum)
        }
        guard frameSample <= current else { return .wait(until: moment(notBefore: frameSample)) }
        let index = nextFrame
        nextFrame += 1
        return .frame(
            index: index,
            sample: frameSample,
            isLate: frameRate.sample(ofFrame: nextFrame) <= current
        )
    }

    private mutating func jump(to current: Int64) -> Step {
        let quantum = Int64(ProgramTime.quantum)
        let skipped = (current + ProgramTime.audioLead - nextQuantum) / quantum * quantum
        nextQuantum += max(skipped, 0)
        nextFrame = max(nextFrame, Self.frame(notBefore: current, frameRate))
        return .jump(samples: max(skipped, 0))
    }

    /// Returns the first moment at which `sample` has begun.
    private func moment(notBefore sample: Int64) -> MonotonicTime {
        let moment = anchor.moment(ofSample: sample)
        // A sample rarely begins on a whole nanosecond.
        return anchor.sample(at: moment) >= sample ? moment : MonotonicTime(nanoseconds: moment.nanoseconds + 1)
    }

    private static func frame(notBefore sample: Int64, _ frameRate: FrameRate) -> Int64 {
        let denominator = ProgramTime.sampleRate * Int64(frameRate.denominator)
        let (seconds, rest) = sample.quotientAndRemainder(dividingBy: denominator)
        var index = seconds * Int64(frameRate.numerator) + rest * Int64(frameRate.numerator) / denominator
        while frameRate.sample(ofFrame: index) < sample { index += 1 }
        return index
    }
}

/// Converts between samples and milliseconds of program time.
///
/// Program time is an integer count of 48 kHz samples. Milliseconds for RTMP are computed from the absolute count,
/// never by adding rounded durations, so errors do not accumulate. `Double` milliseconds are only for estimates about
/// hosts.
enum ProgramTime {
    static let sampleRate: Int64 = 48_000
    /// Samples mixed at a time: 10.7 ms, half an AAC frame.
    static let quantum = 512
    /// Audio is mixed this many samples before the matching frame is due: 32 ms.
    ///
    /// The encoder emits an AAC packet when 2048 to 3072 samples from its timestamp on have gone in, and a frame must
    /// not be sent before the audio that precedes it. A quantum mixed when its frame is due would delay every frame by
    /// 37 to 58 ms; with this lead it is 5 to 26 ms, while the frame is encoded. A longer lead would need audio before
    /// it has arrived: the latency that counts is from an audio packet's arrival to the packet that contains it.
    static let audioLead: Int64 = 1536
    /// Samples by which the first quantum begins before the program.
    ///
    /// With this phase, the limiter's output, which is delayed by its look-ahead, ends on an AAC frame boundary with
    /// every other quantum, so no AAC frame waits for a quantum of which it needs only the beginning.
    static let quantumPhase = Int64(quantum - Limiter.lookAhead)

    /// Returns a program timestamp in milliseconds, rounded down.
    static func milliseconds(ofSample sample: Int64) -> Int64 {
        // In two steps, so that a counter of years does not overflow; rounds down on both sides of zero.
        let (seconds, rest) = sample.quotientAndRemainder(dividingBy: sampleRate)
        let product = rest * 1000
        let floored = product >= 0 ? product / sampleRate : -((-product + sampleRate - 1) / sampleRate)
        return seconds * 1000 + floored
    }

    /// Returns a sample position as fractional milliseconds.
    static func fractionalMilliseconds(ofSample sample: Int64) -> Double {
        Double(sample) / 48
    }
}

/// The position of the program's sample counter on the monotonic clock.
struct ProgramAnchor: Sendable {
    let start: MonotonicTime
    let firstSample: Int64

    /// Returns the moment at which `sample` begins.
    func moment(ofSample sample: Int64) -> MonotonicTime {
        let (seconds, rest) = (sample - firstSample).quotientAndRemainder(dividingBy: ProgramTime.sampleRate)
        return MonotonicTime(
            nanoseconds: start.nanoseconds + seconds * 1_000_000_000 + rest * 1_000_000_000 / ProgramTime.sampleRate
        )
    }

    /// Returns the sample at `moment`, rounded down.
    func sample(at moment: MonotonicTime) -> Int64 {
        let (seconds, rest) = (moment.nanoseconds - start.nanoseconds).quotientAndRemainder(dividingBy: 1_000_000_000)
        return firstSample + seconds * ProgramTime.sampleRate + rest * ProgramTime.sampleRate / 1_000_000_000
    }

    /// Returns `moment` as milliseconds of program time.
    func milliseconds(at moment: MonotonicTime) -> Double {
        Double(firstSample) / 48 + Double(moment.nanoseconds - start.nanoseconds) / 1e6
    }
}
