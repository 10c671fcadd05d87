/// How loud the program is, as it goes out.
public struct ProgramSignal: Sendable, Equatable {
    /// The largest sample of the last tenth of a second in dBFS; `HostSignal.silence` at the least.
    public var peak: Double
    /// Decibels by which the limiter turned it down at the most in that time, 0 or less.
    public var limiting: Double

    /// Makes one from its parts; silence by default.
    public init(peak: Double = HostSignal.silence, limiting: Double = 0) {
        self.peak = peak
        self.limiting = limiting
    }
}
