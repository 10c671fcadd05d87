#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Measures one input's signal: its level, and whether its media is being decoded.
struct SignalMeter {
    /// Milliseconds for which decoded media counts as present.
    static let memory = 3000.0
    /// The same for the frames of a screen share.
    static let stillMemory = 30_000.0
    /// A smaller change of the audio's end, in milliseconds, is a rounding error.
    private static let rounding = 0.01

    private var level = AudioLevelMeter()
    private var frames: Int64 = 0
    private var framesAt: Double?
    private var audioEnd: Double?
    private var audioAt: Double?

    /// Adds a quantum of the input's audio, before gain.
    mutating func add(_ left: UnsafePointer<Float>, _ right: UnsafePointer<Float>, count: Int) {
        level.add(left, right, count: count)
    }

    /// Returns the signal since the last reading.
    ///
    /// - Parameters:
    ///   - frames: Frames decoded so far.
    ///   - audioEnd: Where the decoded audio ends in host time, milliseconds; nil before the first.
    ///   - now: The current time in milliseconds.
    ///   - isScreenShare: Frames come only when something changes.
    mutating func read(
        id: String,
        frames: Int64,
        audioEnd: Double?,
        now: Double,
        isScreenShare: Bool = false
    ) -> HostSignal {
        if frames != self.frames {
            self.frames = frames
            framesAt = now
        }
        if let audioEnd, abs(audioEnd - (self.audioEnd ?? -.infinity)) > Self.rounding {
            self.audioEnd = audioEnd
            audioAt = now
        }
        let (level, peak) = level.read()
        return HostSignal(
            id: id,
            level: level,
            peak: peak,
            hasAudio: audioAt.map { now - $0 <= Self.memory } ?? false,
            hasVideo: framesAt.map { now - $0 <= (isScreenShare ? Self.stillMemory : Self.memory) } ?? false
        )
    }
}

/// Measures the RMS level and the peak of all samples added between two readings.
struct AudioLevelMeter: Sendable {
    private var squares: Float = 0
    private var peak: Float = 0
    private var count = 0

    /// Adds `count` samples of both channels.
    mutating func add(_ left: UnsafePointer<Float>, _ right: UnsafePointer<Float>, count: Int) {
        add(left, count)
        add(right, count)
        self.count += 2 * count
    }

    private mutating func add(_ samples: UnsafePointer<Float>, _ count: Int) {
        var sum = SIMD8<Float>()
        var largest = SIMD8<Float>()
        var index = 0
        while index + 8 <= count {
            let values = SIMD8(loading: samples + index)
            sum += values * values
            largest = largest.larger(values.size)
            index += 8
        }
        squares += sum.sum()
        peak = max(peak, largest.max())
        while index < count {
            squares += samples[index] * samples[index]
            peak = max(peak, abs(samples[index]))
            index += 1
        }
    }

    /// Returns the RMS level and the peak since the last reading, in dBFS.
    mutating func read() -> (level: Double, peak: Double) {
        defer { self = AudioLevelMeter() }
        guard count > 0 else { return (HostSignal.silence, HostSignal.silence) }
        return (Self.decibels(Double(squares) / Double(count), factor: 10), Self.decibels(Double(peak), factor: 20))
    }

    private static func decibels(_ value: Double, factor: Double) -> Double {
        // Written so that NaN fails: a decoder may emit any value.
        guard value > 0, value.isFinite else { return HostSignal.silence }
        return max(factor * log10(value), HostSignal.silence)
    }
}
