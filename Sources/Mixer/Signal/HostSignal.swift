import Synchronization

/// The current signal of one input: its level, and which of its media can be decoded.
public struct HostSignal: Sendable, Equatable {
    /// The input's id.
    public var id: String
    /// RMS level of the last tenth of a second in dBFS, before any gain of the mix; at least `silence`.
    public var level: Double
    /// The largest sample of the last tenth of a second in dBFS; at least `silence`.
    public var peak: Double
    /// Whether audio was decoded recently.
    public var hasAudio: Bool
    /// Whether video was decoded recently.
    public var hasVideo: Bool
    /// The present gain of loudness normalization in decibels.
    public var levelling = 0.0

    /// The level of digital silence, in dBFS.
    public static let silence = -127.0

    /// Makes a signal from its parts; by default that of an input without media.
    public init(
        id: String,
        level: Double = silence,
        peak: Double = silence,
        hasAudio: Bool = false,
        hasVideo: Bool = false
    ) {
        self.id = id
        self.level = level
        self.peak = peak
        self.hasAudio = hasAudio
        self.hasVideo = hasVideo
    }
}

/// The level of the program's output.
public struct ProgramSignal: Sendable, Equatable {
    /// The largest sample of the last tenth of a second in dBFS; at least `HostSignal.silence`.
    public var peak: Double
    /// The largest gain reduction by the limiter in that time in decibels, 0 or less.
    public var limiting: Double

    /// Makes a signal from its parts; silence by default.
    public init(peak: Double = HostSignal.silence, limiting: Double = 0) {
        self.peak = peak
        self.limiting = limiting
    }
}

/// Stores the signals of all inputs, written by the program's thread ten times a second and read by any thread.
final class HostSignals: Sendable {
    private let signals = Mutex<(hosts: [HostSignal], program: ProgramSignal)>(([], ProgramSignal()))

    var current: [HostSignal] { signals.withLock { $0.hosts } }

    /// The level of the program.
    var program: ProgramSignal { signals.withLock { $0.program } }

    func publish(_ hosts: [HostSignal], program: ProgramSignal) {
        signals.withLock { $0 = (hosts, program) }
    }
}
