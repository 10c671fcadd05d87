import Media
import Stage

/// Says what of the program is due; the only clock in it, and no host's.
///
/// Picture n begins at `FrameRate.sample(ofPicture:)`, a quantum of sound every 512 samples, both counted on one 48 kHz
/// counter that is tied to the monotonic clock once. A late driver is told to catch up: missed sound is mixed all the
/// same, missed pictures are repeats. After more than a second the counter jumps; its time still only rises.
struct ProgramClock: Sendable {
    /// What to do now.
    enum Step: Sendable, Equatable {
        case wait(until: MonotonicTime)
        /// Mix the quantum of samples from `first`.
        case sound(first: Int64)
        /// Compose picture `index`, which begins at `sample`; when `isLate` its successor is due already.
        case picture(index: Int64, sample: Int64, isLate: Bool)
        /// The driver was away: time goes on `samples` later, and nothing in between is made.
        case jump(samples: Int64)
    }

    let anchor: ProgramAnchor
    let frameRate: FrameRate
    private(set) var nextPicture: Int64
    private(set) var nextQuantum: Int64

    /// A later driver than this does not catch up but jumps.
    static let jumpAfter = ProgramTime.sampleRate

    init(anchor: ProgramAnchor, frameRate: FrameRate) {
        self.anchor = anchor
        self.frameRate = frameRate
        nextPicture = Self.picture(notBefore: anchor.firstSample, frameRate)
        nextQuantum = anchor.firstSample - ProgramTime.quantumPhase
    }

    /// The next thing to do at `now`; ask again after it is done.
    mutating func next(at now: MonotonicTime) -> Step {
        let current = anchor.sample(at: now)
        let pictureSample = frameRate.sample(ofPicture: nextPicture)
        let soundDue = nextQuantum - ProgramTime.soundLead
        if current - min(pictureSample, soundDue) > Self.jumpAfter {
            return jump(to: current)
        }
        if soundDue <= pictureSample {
            guard soundDue <= current else { return .wait(until: moment(notBefore: soundDue)) }
            defer { nextQuantum += Int64(ProgramTime.quantum) }
            return .sound(first: nextQuantum)
        }
        guard pictureSample <= current else { return .wait(until: moment(notBefore: pictureSample)) }
        let index = nextPicture
        nextPicture += 1
        return .picture(
            index: index,
            sample: pictureSample,
            isLate: frameRate.sample(ofPicture: nextPicture) <= current
        )
    }

    private mutating func jump(to current: Int64) -> Step {
        let quantum = Int64(ProgramTime.quantum)
        let skipped = (current + ProgramTime.soundLead - nextQuantum) / quantum * quantum
        nextQuantum += max(skipped, 0)
        nextPicture = max(nextPicture, Self.picture(notBefore: current, frameRate))
        return .jump(samples: max(skipped, 0))
    }

    /// The first moment at which `sample` has begun.
    private func moment(notBefore sample: Int64) -> MonotonicTime {
        let moment = anchor.moment(ofSample: sample)
        // A sample seldom begins on a whole nanosecond.
        return anchor.sample(at: moment) >= sample ? moment : MonotonicTime(nanoseconds: moment.nanoseconds + 1)
    }

    private static func picture(notBefore sample: Int64, _ frameRate: FrameRate) -> Int64 {
        let denominator = ProgramTime.sampleRate * Int64(frameRate.denominator)
        let (seconds, rest) = sample.quotientAndRemainder(dividingBy: denominator)
        var index = seconds * Int64(frameRate.numerator) + rest * Int64(frameRate.numerator) / denominator
        while frameRate.sample(ofPicture: index) < sample { index += 1 }
        return index
    }
}
