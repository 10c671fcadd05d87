import Media

/// When a program does without something, and when it takes it back: rules alone.
///
/// A step up when the slow pictures (the 95th of a hundred) of three seconds took more than 0.85 of the time there is for
/// one, and go on doing so for three seconds.
///
/// There are two ways back. The quick one is for a machine that was short of time and is not any more: when the pictures of
/// a second take less than 0.6, and what is known of a better step says that its pictures would too, the program goes
/// there at once, over several steps. A quick return that had to be taken back within a minute doubles that second, up to
/// eight, until a minute without a step up; one that had to be within ten seconds ends where it began. The slow one is
/// for all else: one step down when the pictures take less than 0.6 for half a minute; one that had to be taken back
/// within a minute doubles that half minute, up to four, until a program without any degradation has lasted for so long.
struct DegradationLadder: Sendable {
    /// Why a program is degraded.
    enum Reason: String, Sendable {
        /// Making a picture takes nearly as long as it is shown.
        case work = "frame_work"
        /// Pictures wait to be coded.
        case queue = "encoder_queue"
    }

    /// Seconds that are looked at together before a step up, and before a quick return.
    static let window = (up: 3.0, back: 1.0)
    /// Parts of a picture's time.
    static let bounds = (up: 0.85, down: 0.6)
    /// Seconds above the one bound, and below the other.
    static let patience = (up: 3.0, down: 30.0)
    /// The longest that patience grows to.
    static let mostPatience = 240.0
    /// Seconds below the lower bound until a quick return, and the longest that grows to.
    static let quickPatience = (first: 1.0, most: 8.0)
    /// Seconds within which a step up counts as the step down before it having been a mistake.
    static let regret = 60.0
    /// Seconds within which such a step up goes back to where the step down came from.
    static let mistake = 10.0
    /// How much longer by the clock than by the processor's pictures take on a machine that is short of time.
    private static let starved = 1.3
    /// Pictures that say enough of a step.
    private static let minimumFrames = 8

    private struct Sample: Sendable {
        var at: MonotonicTime
        /// Parts of a picture's time: as the clock says, and as the processor's.
        var ratio: Double
        var processor: Double
    }

    /// What pictures took, as parts of a picture's time: on a step when it was left for a worse one, or when it was taken.
    private struct Known: Sendable {
        var ratio: Double
        var processor: Double

        /// How much longer by the clock than by the processor's.
        var stretch: Double { processor > 0 ? max(ratio / processor, 1) : 1 }
    }

    private(set) var step = Degradation.none
    private(set) var reason: Reason?
    /// The part of its time that a slow picture takes, as of the last look.
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
    /// By step: what is known of all that are better than the present one.
    private var known: [Degradation: Known] = [:]
    /// What most pictures took on the present step when it had just been taken.
    private var arrival: Known?
    private let bounds: (up: Double, down: Double)
    /// Seconds above the upper bound until a step up.
    private let upPatience: Double
    /// Seconds below the lower bound until a step down, when the one before was no mistake.
    private let usualPatience: Double
    private var downPatience: Double
    private var quickPatience = Self.quickPatience.first
    /// The step up to which a program may be degraded.
    private let worst: Degradation

    /// - Parameters:
    ///   - worst: The last step that may be taken.
    ///   - bounds: Parts of a picture's time.
    ///   - upPatience: Seconds above the upper bound until a step up.
    ///   - patience: Seconds below the lower bound until a step down the slow way.
    init(
        worst: Degradation = .slate,
        bounds: (up: Double, down: Double) = Self.bounds,
        upPatience: Double = Self.patience.up,
        patience: Double = Self.patience.down
    ) {
        self.worst = worst
        self.bounds = bounds
        self.upPatience = upPatience
        usualPatience = patience
        downPatience = patience
    }

    /// Takes in what one picture took.
    ///
    /// - Parameters:
    ///   - work: Seconds, of the slowest part of its way.
    ///   - processor: Processor seconds of the same; nil where these are not known apart.
    ///   - budget: Seconds from one picture to the next.
    mutating func picture(work: Double, processor: Double? = nil, budget: Double, now: MonotonicTime) {
        guard budget > 0, work.isFinite else { return }
        // Twice as many as a window of the fastest program has: what is not looked at in time is forgotten.
        if samples.count >= 512 { samples.removeFirst(256) }
        let ratio = max(work / budget, 0)
        samples.append(Sample(at: now, ratio: ratio, processor: min(max((processor ?? work) / budget, 0), ratio)))
    }

    /// A picture was left out because too many waited to be coded.
    mutating func pictureSkipped() {
        isQueued = true
    }

    /// Looks at the last seconds; to be called about twice a second.
    ///
    /// - Returns: The step to take, when it is another one.
    mutating func look(now: MonotonicTime) -> Degradation? {
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
        if let aboveSince, now.seconds(since: aboveSince) >= upPatience, let worse = step.worse, worse <= worst {
            return stepUp(to: worse, because: ratio > bounds.up ? .work : .queue, now: now)
        }
        if let lastUp, now.seconds(since: lastUp) >= Self.regret { quickPatience = Self.quickPatience.first }
        if let quickSince, now.seconds(since: quickSince) >= quickPatience, let better = quickReturn(latest) {
            return stepDown(to: better, now: now)
        }
        guard let belowSince, now.seconds(since: belowSince) >= downPatience else { return nil }
        guard let better = step.better else {
            downPatience = usualPatience
            return nil
        }
        return stepDown(to: better, now: now)
    }

    /// The best step on which pictures would have time to spare by what is known; nil for none.
    ///
    /// A better step's pictures take the processor's time that they took before, and longer by the clock as the present ones
    /// do. Where nothing ever took longer, they may have become quicker as the present step's have since it was taken: by
    /// a scene that is lighter now, or by a processor whose clock went on while another system had it.
    private func quickReturn(_ latest: [Sample]) -> Degradation? {
        guard let present = Self.slow(latest) else { return nil }
        let usual = Self.usual(latest)
        var relief: Double?
        if let arrival, arrival.ratio > 0, max(arrival.stretch, present.stretch) < Self.starved {
            relief = min(usual.ratio / arrival.ratio, 1)
        }
        return Degradation.allCases.first { better in
            guard better < step, let known = known[better] else { return false }
            var expected = known.processor * present.stretch
            if let relief, known.stretch < Self.starved { expected = min(expected, known.ratio * relief) }
            return expected < bounds.down
        }
    }

    /// What most pictures take: the middle one of them.
    private static func usual(_ samples: [Sample]) -> Known {
        guard !samples.isEmpty else { return Known(ratio: 0, processor: 0) }
        let middle = samples.count / 2
        return Known(
            ratio: samples.map(\.ratio).sorted()[middle],
            processor: samples.map(\.processor).sorted()[middle]
        )
    }

    /// What the slow ones among pictures take: the 95th of a hundred; nil where there are none.
    private static func slow(_ samples: [Sample]) -> Known? {
        guard !samples.isEmpty else { return nil }
        let place = min(samples.count * 95 / 100, samples.count - 1)
        return Known(
            ratio: samples.map(\.ratio).sorted()[place],
            processor: samples.map(\.processor).sorted()[place]
        )
    }

    private mutating func stepUp(to worse: Degradation, because reason: Reason, now: MonotonicTime) -> Degradation {
        var worse = worse
        if let lastDown, now.seconds(since: lastDown) < Self.regret {
            downPatience = min(downPatience * 2, Self.mostPatience)
            quickPatience = min(quickPatience * 2, Self.quickPatience.most)
            if now.seconds(since: lastDown) < Self.mistake { worse = max(worse, cameFrom) }
        }
        // Once for each time down; further steps up are of the same shortage.
        lastDown = nil
        lastUp = now
        known[step] = Self.slow(samples) ?? Known(ratio: ratio, processor: ratio)
        return take(worse, because: reason)
    }

    private mutating func stepDown(to better: Degradation, now: MonotonicTime) -> Degradation {
        lastDown = now
        cameFrom = step
        return take(better, because: better == .none ? nil : reason)
    }

    /// What was measured before a step says nothing about the time after it.
    private mutating func take(_ step: Degradation, because reason: Reason?) -> Degradation {
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
