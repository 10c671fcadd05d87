import Media

/// A machine as slow as one likes, for programs that are driven by hand: its pictures take the time that is said.
struct ImaginedMachine {
    private let interval: Double
    private let gauge: LoadGauge
    /// Seconds that a picture takes at a time on a step, by the clock and by the processor's.
    private let work: (MonotonicTime, Degradation) -> (seconds: Double, processor: Double)
    private var nextPicture: MonotonicTime
    private var nextLook: MonotonicTime

    /// - Parameters:
    ///   - start: When the program begins.
    ///   - rate: Pictures per second.
    ///   - ladder: By which rules the program does without something.
    ///   - stretch: How much longer by the clock a picture takes at a time, because others have the processor.
    ///   - work: Seconds of the processor that a picture takes at a time on a step.
    init(
        start: MonotonicTime,
        rate: Double,
        ladder: DegradationLadder = DegradationLadder(),
        stretch: @escaping (MonotonicTime) -> Double = { _ in 1 },
        work: @escaping (MonotonicTime, Degradation) -> Double
    ) {
        interval = 1 / rate
        gauge = LoadGauge(budget: 1 / rate, ladder: ladder)
        self.work = { now, step in
            let processor = work(now, step)
            return (processor * stretch(now), processor)
        }
        nextPicture = start
        nextLook = start
    }

    var load: ProgramLoad { gauge.load }

    /// Works up to `now`; returns the step to take, when it is another one.
    mutating func work(until now: MonotonicTime) -> Degradation? {
        while nextPicture <= now {
            let took = work(nextPicture, gauge.step)
            gauge.coded(in: took.seconds, processor: took.processor, now: nextPicture)
            nextPicture = nextPicture.advanced(seconds: interval)
        }
        guard nextLook <= now else { return nil }
        nextLook = nextLook.advanced(milliseconds: 500)
        return gauge.look(now: now)
    }
}
