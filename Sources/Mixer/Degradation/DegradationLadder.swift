import Media

/// When a program does without something, and when it takes it back: rules alone.
///
/// A step up when the slow pictures (the 95th of a hundred) of three seconds took more than 0.85 of the time there is for
/// one, and go on doing so for three seconds; a step down when they take less than 0.6 for half a minute. A step down
/// that had to be taken back within a minute doubles that half minute, up to four, until a program without any
/// degradation has lasted for so long.
struct DegradationLadder: Sendable {
    /// Why a program is degraded.
    enum Reason: String, Sendable {
        /// Making a picture takes nearly as long as it is shown.
        case work = "frame_work"
        /// Pictures wait to be coded.
        case queue = "encoder_queue"
    }

    /// Seconds that are looked at together.
    static let window = 3.0
    /// Parts of a picture's time.
    static let bounds = (up: 0.85, down: 0.6)
    /// Seconds above the one bound, and below the other.
    static let patience = (up: 3.0, down: 30.0)
    /// The longest that patience grows to.
    static let mostPatience = 240.0
    /// Seconds within which a step up counts as the step down before it having been a mistake.
    static let regret = 60.0

    private struct Sample: Sendable {
        var at: MonotonicTime
        var ratio: Double
    }

    private(set) var step = Degradation.none
    private(set) var reason: Reason?
    /// The part of its time that a slow picture takes, as of the last look.
    private(set) var ratio = 0.0
    private var samples: [Sample] = []
    private var isQueued = false
    private var aboveSince: MonotonicTime?
    private var belowSince: MonotonicTime?
    private var lastDown: MonotonicTime?
    private let bounds: (up: Double, down: Double)
    /// Seconds above the upper bound until a step up.
    private let upPatience: Double
    /// Seconds below the lower bound until a step down, when the one before was no mistake.
    private let usualPatience: Double
    private var downPatience: Double
    /// The step up to which a program may be degraded.
    private let worst: Degradation

    /// - Parameters:
    ///   - worst: The last step that may be taken.
    ///   - bounds: Parts of a picture's time.
    ///   - upPatience: Seconds above the upper bound until a step up.
    ///   - patience: Seconds below the lower bound until a step down.
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
    ///   - budget: Seconds from one picture to the next.
    mutating func picture(work: Double, budget: Double, now: MonotonicTime) {
        guard budget > 0, work.isFinite else { return }
        // Twice as many as a window of the fastest program has: what is not looked at in time is forgotten.
        if samples.count >= 512 { samples.removeFirst(256) }
        samples.append(Sample(at: now, ratio: max(work / budget, 0)))
    }

    /// A picture was left out because too many waited to be coded.
    mutating func pictureSkipped() {
        isQueued = true
    }

    /// Looks at the last seconds; to be called about twice a second.
    ///
    /// - Returns: The step to take, when it is another one.
    mutating func look(now: MonotonicTime) -> Degradation? {
        samples.removeAll { now.seconds(since: $0.at) > Self.window }
        let isBehind = isQueued
        isQueued = false
        guard !samples.isEmpty || isBehind else { return nil }
        let sorted = samples.map(\.ratio).sorted()
        if !sorted.isEmpty { ratio = sorted[min(sorted.count * 95 / 100, sorted.count - 1)] }
        aboveSince = ratio > bounds.up || isBehind ? aboveSince ?? now : nil
        belowSince = ratio < bounds.down && !isBehind ? belowSince ?? now : nil
        if let aboveSince, now.seconds(since: aboveSince) >= upPatience, let worse = step.worse, worse <= worst {
            if let lastDown, now.seconds(since: lastDown) < Self.regret {
                downPatience = min(downPatience * 2, Self.mostPatience)
            }
            return take(worse, because: ratio > bounds.up ? .work : .queue)
        }
        guard let belowSince, now.seconds(since: belowSince) >= downPatience else { return nil }
        guard let better = step.better else {
            downPatience = usualPatience
            return nil
        }
        lastDown = now
        return take(better, because: better == .none ? nil : reason)
    }

    /// What was measured before a step says nothing about the time after it.
    private mutating func take(_ step: Degradation, because reason: Reason?) -> Degradation {
        self.step = step
        self.reason = reason
        samples = []
        aboveSince = nil
        belowSince = nil
        return step
    }
}
