import Media
import Stage

/// Decides when a program is degraded and when it recovers; rules only.
///
/// One step up, when the 95th percentile of the frame times of three seconds exceeds 0.85 of the frame interval, and
/// continues to for three seconds.
///
/// There are two ways down. The quick return is for a machine that is no longer short of time: when the frames of one
/// second take less than 0.6, and the measurements of a better step predict the same for that one, the program returns
/// there at once, over several steps. A step up within a minute after a quick return doubles that second, up to eight,
/// until a minute without a step up; a step up within ten seconds goes back to where the return began. The slow return
/// is for all other cases: one step down when frames take less than 0.6 for half a minute; a step up within a minute
/// doubles that half minute, up to four, until a program without degradation has lasted for as long.
struct DegradationPolicy: Sendable {
    /// Seconds evaluated together before a step up, and before a quick return.
    static let window = (up: 3.0, back: 1.0)
    /// Bounds of the frame time, as fractions of the frame interval.
    static let bounds = (up: 0.85, down: 0.6)
    /// Seconds above the upper bound before a step up, and below the lower one before a step down.
    static let delay = (up: 3.0, down: 30.0)
    /// The maximum of the adaptive delay before a step down, in seconds.
    static let longestDownDelay = 240.0
    /// Seconds below the lower bound before a quick return, and their maximum.
    static let quickDelay = (first: 1.0, maximum: 8.0)
    /// Seconds within which a step up marks the step down before it as a mistake.
    static let revertWindow = 60.0
    /// Seconds within which such a step up goes back to where the step down came from.
    static let quickRevertWindow = 10.0
    /// The ratio of wall-clock to processor time beyond which a machine counts as starved.
    private static let starved = 1.3
    /// The minimum number of frames for an evaluation.
    private static let minimumFrames = 8

    private struct Sample: Sendable {
        var at: MonotonicTime
        /// The frame time as a fraction of the frame interval: by the wall clock, and by the processor's.
        var ratio: Double
        var processor: Double
    }

    /// Frame times of a step as fractions of the frame interval, taken when the step was entered or left for a worse
    /// one.
    private struct Measurement: Sendable {
        var ratio: Double
        var processor: Double

        /// The ratio of wall-clock to processor time.
        var stretch: Double { processor > 0 ? max(ratio / processor, 1) : 1 }
    }

    private(set) var step = Degradation.none
    private(set) var reason: MixerLoad.Reason?
    /// The 95th percentile of the frame times as of the last evaluation.
    private(set) var ratio = 0.0
    private var samples: [Sample] = []
    private var isQueued = false
    private var aboveSince: MonotonicTime?
    private var belowSince: MonotonicTime?
    private var quickSince: MonotonicTime?
    private var lastDown: MonotonicTime?
    /// The step that was left then.
    private var cameFrom = Degradation.none
    private var lastUp: MonotonicTime?
    /// The measurements of all steps better than the present one.
    private var measurements: [Degradation: Measurement] = [:]
    /// The median frame time shortly after the present step was entered.
    private var arrival: Measurement?
    private let bounds: (up: Double, down: Double)
    /// Seconds above the upper bound before a step up.
    private let upDelay: Double
    /// Seconds below the lower bound before a step down, when the last one was no mistake.
    private let usualDownDelay: Double
    private var downDelay: Double
    private var quickDelay = Self.quickDelay.first
    /// The worst step allowed.
    private let worst: Degradation

    /// - Parameters:
    ///   - worst: The worst step allowed.
    ///   - bounds: Bounds of the frame time, as fractions of the frame interval.
    ///   - upDelay: Seconds above the upper bound before a step up.
    ///   - downDelay: Seconds below the lower bound before a slow step down.
    init(
        worst: Degradation = .slate,
        bounds: (up: Double, down: Double) = Self.bounds,
        upDelay: Double = Self.delay.up,
        downDelay: Double = Self.delay.down
    ) {
        self.worst = worst
        self.bounds = bounds
        self.upDelay = upDelay
        usualDownDelay = downDelay
        self.downDelay = downDelay
    }

    /// Records the time that one frame took.
    ///
    /// - Parameters:
    ///   - work: Seconds of the slowest pipeline stage.
    ///   - processor: Processor seconds of the same; nil where they are not known.
    ///   - budget: Seconds from one frame to the next.
    mutating func recordFrame(work: Double, processor: Double? = nil, budget: Double, now: MonotonicTime) {
        guard budget > 0, work.isFinite else { return }
        // Twice the window of the fastest program: samples that are not evaluated in time are dropped.
        if samples.count >= 512 { samples.removeFirst(256) }
        let ratio = max(work / budget, 0)
        samples.append(Sample(at: now, ratio: ratio, processor: min(max((processor ?? work) / budget, 0), ratio)))
    }

    /// Records that a frame was skipped because too many waited to be encoded.
    mutating func frameSkipped() {
        isQueued = true
    }

    /// Evaluates the last seconds; to be called about twice a second.
    ///
    /// - Returns: The new step, if it changes.
    mutating func evaluate(now: MonotonicTime) -> Degradation? {
        samples.removeAll { now.seconds(since: $0.at) > Self.window.up }
        let isBehind = isQueued
        isQueued = false
        guard !samples.isEmpty || isBehind else { return nil }
        ratio = Self.slow(samples)?.ratio ?? ratio
        let latest = samples.filter { now.seconds(since: $0.at) <= Self.window.back }
        let present = Self.slow(latest)?.ratio ?? ratio
        if arrival == nil, samples.count >= Self.minimumFrames { arrival = Self.usual(samples) }
        aboveSince = ratio > bounds.up || isBehind ? aboveSince ?? now : nil
        belowSince = ratio < bounds.down && !isBehind ? belowSince ?? now : nil
        quickSince = present < bounds.down && !isBehind && latest.count >= Self.minimumFrames ? quickSince ?? now : nil
        if let aboveSince, now.seconds(since: aboveSince) >= upDelay, let worse = step.worse, worse <= worst {
            return stepUp(to: worse, because: ratio > bounds.up ? .work : .queue, now: now)
        }
        if let lastUp, now.seconds(since: lastUp) >= Self.revertWindow { quickDelay = Self.quickDelay.first }
        if let quickSince, now.seconds(since: quickSince) >= quickDelay, let better = quickReturn(latest) {
            return stepDown(to: better, now: now)
        }
        guard let belowSince, now.seconds(since: belowSince) >= downDelay else { return nil }
        guard let better = step.better else {
            downDelay = usualDownDelay
            return nil
        }
        return stepDown(to: better, now: now)
    }

    /// Returns the best step on which frames are predicted to be fast enough; nil for none.
    ///
    /// The prediction takes a better step's processor time as measured, stretched by the present ratio of wall-clock to
    /// processor time. Where that ratio was never high, frames may also have become faster as those of the present step
    /// did since it was entered: by a simpler scene, or on a virtual machine whose processor clock includes stolen
    /// time.
    private func quickReturn(_ latest: [Sample]) -> Degradation? {
        guard let present = Self.slow(latest) else { return nil }
        let usual = Self.usual(latest)
        var speedup: Double?
        if let arrival, arrival.ratio > 0, max(arrival.stretch, present.stretch) < Self.starved {
            speedup = min(usual.ratio / arrival.ratio, 1)
        }
        return Degradation.allCases.first { better in
            guard better < step, let measured = measurements[better] else { return false }
            var expected = measured.processor * present.stretch
            if let speedup, measured.stretch < Self.starved { expected = min(expected, measured.ratio * speedup) }
            return expected < bounds.down
        }
    }

    /// Returns the median frame time.
    private static func usual(_ samples: [Sample]) -> Measurement {
        guard !samples.isEmpty else { return Measurement(ratio: 0, processor: 0) }
        let middle = samples.count / 2
        return Measurement(
            ratio: samples.map(\.ratio).sorted()[middle],
            processor: samples.map(\.processor).sorted()[middle]
        )
    }

    /// Returns the 95th percentile of the frame times; nil without samples.
    private static func slow(_ samples: [Sample]) -> Measurement? {
        guard !samples.isEmpty else { return nil }
        let index = min(samples.count * 95 / 100, samples.count - 1)
        return Measurement(
            ratio: samples.map(\.ratio).sorted()[index],
            processor: samples.map(\.processor).sorted()[index]
        )
    }

    private mutating func stepUp(
        to worse: Degradation,
        because reason: MixerLoad.Reason,
        now: MonotonicTime
    ) -> Degradation {
        var worse = worse
        if let lastDown, now.seconds(since: lastDown) < Self.revertWindow {
            downDelay = min(downDelay * 2, Self.longestDownDelay)
            quickDelay = min(quickDelay * 2, Self.quickDelay.maximum)
            if now.seconds(since: lastDown) < Self.quickRevertWindow { worse = max(worse, cameFrom) }
        }
        // Once for each step down; further steps up belong to the same shortage.
        lastDown = nil
        lastUp = now
        measurements[step] = Self.slow(samples) ?? Measurement(ratio: ratio, processor: ratio)
        return apply(worse, because: reason)
    }

    private mutating func stepDown(to better: Degradation, now: MonotonicTime) -> Degradation {
        lastDown = now
        cameFrom = step
        return apply(better, because: better == .none ? nil : reason)
    }

    /// Changes the step and discards the measurements made before it.
    private mutating func apply(_ step: Degradation, because reason: MixerLoad.Reason?) -> Degradation {
        self.step = step
        self.reason = reason
        samples = []
        aboveSince = nil
        belowSince = nil
        quickSince = nil
        arrival = nil
        return step
    }
}
