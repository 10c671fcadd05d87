internal import Media

/// The arithmetic of program time.
///
/// All of it is an integer count of 48 kHz samples. Milliseconds for RTMP are taken from the absolute count, never by
/// adding rounded durations, so nothing accumulates. Milliseconds as `Double` are for estimates about hosts alone.
enum ProgramTime {
    static let sampleRate: Int64 = 48_000
    /// Samples mixed at a time: 10.7 ms, half a frame of AAC.
    static let quantum = 512
    /// Sound is mixed this many samples before its picture is due: 32 ms.
    ///
    /// An AAC packet comes out only when 2048 to 3072 samples from its timestamp on have gone in, and a picture may not
    /// leave before the sound that belongs before it. So a quantum mixed when its picture is due would let every picture
    /// wait for 37 to 58 ms; with this lead it is 5 to 26, while it is coded. A longer lead would only move the wait to
    /// where sound is needed before it has come: what counts is from a sound's arrival to the packet that holds it.
    static let soundLead: Int64 = 1536
    /// The first quantum begins this many samples before the program does.
    ///
    /// So what the limiter, which is behind by its look-ahead, gives out of every other quantum ends with a frame of AAC,
    /// and no frame waits for a quantum of which it needs only the beginning.
    static let quantumPhase = Int64(quantum - Limiter.lookAhead)

    /// A program timestamp in milliseconds, rounded down.
    static func milliseconds(ofSample sample: Int64) -> Int64 {
        // Two steps, so that a counter of years does not overflow, and rounding is downwards on both sides of zero.
        let (seconds, rest) = sample.quotientAndRemainder(dividingBy: sampleRate)
        let product = rest * 1000
        let floored = product >= 0 ? product / sampleRate : -((-product + sampleRate - 1) / sampleRate)
        return seconds * 1000 + floored
    }

    /// A sample position as fractional milliseconds.
    static func fractionalMilliseconds(ofSample sample: Int64) -> Double {
        Double(sample) / 48
    }
}

/// Where the program's sample counter sits on the monotonic clock.
struct ProgramAnchor: Sendable {
    let start: MonotonicTime
    let firstSample: Int64

    /// The moment at which `sample` begins.
    func moment(ofSample sample: Int64) -> MonotonicTime {
        let (seconds, rest) = (sample - firstSample).quotientAndRemainder(dividingBy: ProgramTime.sampleRate)
        return MonotonicTime(
            nanoseconds: start.nanoseconds + seconds * 1_000_000_000 + rest * 1_000_000_000 / ProgramTime.sampleRate
        )
    }

    /// The sample that is current at `moment`, rounded down.
    func sample(at moment: MonotonicTime) -> Int64 {
        let (seconds, rest) = (moment.nanoseconds - start.nanoseconds).quotientAndRemainder(dividingBy: 1_000_000_000)
        return firstSample + seconds * ProgramTime.sampleRate + rest * ProgramTime.sampleRate / 1_000_000_000
    }

    /// `moment` as milliseconds of program time.
    func milliseconds(at moment: MonotonicTime) -> Double {
        Double(firstSample) / 48 + Double(moment.nanoseconds - start.nanoseconds) / 1e6
    }
}
