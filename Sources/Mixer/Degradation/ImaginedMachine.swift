import Media

/// A machine as slow as one likes, for programs that are driven by hand: its pictures take the time that is said.
struct ImaginedMachine {
    private let interval: Double
    private let gauge: LoadGauge
    /// Seconds that a picture takes at a time on a step.
    private let work: (MonotonicTime, Degradation) -> Double
    private var nextPicture: MonotonicTime
    private var nextLook: MonotonicTime

    /// - Parameters:
    ///   - start: When the program begins.
    ///   - rate: Pictures per second.
    ///   - ladder: By which rules the program does without something.
    ///   - work: Seconds that a picture takes at a time on a step.
    init(
        start: MonotonicTime,
        rate: Double,
        ladder: DegradationLadder = DegradationLadder(),
        work: @escaping (MonotonicTime, Degradation) -> Double
    ) {
        interval = 1 / rate
        gauge = LoadGauge(budget: 1 / rate, ladder: ladder)
        self.work = work
        nextPicture = start
        nextLook = start
    }

    var load: ProgramLoad { gauge.load }

    /// Works up to `now`; returns the step to take, when it is another one.
    mutating func work(until now: MonotonicTime) -> Degradation? {
        while nextPicture <= now {
            gauge.coded(in: work(nextPicture, gauge.step), now: nextPicture)
            nextPicture = nextPicture.advanced(seconds: interval)
        }
        guard nextLook <= now else { return nil }
        nextLook = nextLook.advanced(milliseconds: 500)
        return gauge.look(now: now)
    }
}
