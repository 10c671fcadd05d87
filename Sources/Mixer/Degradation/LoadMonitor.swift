import Media
public import Stage
import Synchronization

/// Collects the frame times of a program's threads, and holds the degradation step that follows from them.
final class LoadMonitor: Sendable {
    private struct State: Sendable {
        var policy: DegradationPolicy
        /// Seconds that composing the last frame took, by the wall clock and by the processor's.
        var composing = (seconds: 0.0, processor: 0.0)
        var frames = MixerFrames()
    }

    private let budget: Double
    private let state: Mutex<State>

    /// - Parameters:
    ///   - budget: Seconds from one frame to the next.
    ///   - policy: The rules, in their initial state.
    init(budget: Double, policy: DegradationPolicy = DegradationPolicy()) {
        self.budget = budget
        state = Mutex(State(policy: policy))
    }

    /// Restarts with the rules of `policy`.
    func follow(_ policy: DegradationPolicy) {
        state.withLock { $0.policy = policy }
    }

    /// Records the seconds that composing a frame took.
    ///
    /// - Parameter processor: Processor seconds of the same; nil for all.
    func composed(in seconds: Double, processor: Double? = nil) {
        state.withLock { $0.composing = (seconds, processor ?? seconds) }
    }

    /// Records the seconds that encoding a frame took.
    ///
    /// Composing and encoding run in parallel, so the slower one counts.
    ///
    /// - Parameter processor: Processor seconds of the same; nil for all.
    func coded(in seconds: Double, processor: Double? = nil, now: MonotonicTime = .now()) {
        state.withLock { state in
            // With fewer frames each has more time.
            let share = state.policy.step >= .fewerFrames ? 1.5 : 1
            let work = max(seconds, state.composing.seconds)
            let processor = max(processor ?? seconds, state.composing.processor)
            state.frames.insert(work)
            state.policy.recordFrame(work: work, processor: processor, budget: budget * share, now: now)
        }
    }

    /// Records that a frame was skipped because too many waited to be encoded.
    func skipped() {
        state.withLock { $0.policy.frameSkipped() }
    }

    /// Evaluates the policy; see `DegradationPolicy.evaluate`.
    func evaluate(now: MonotonicTime) -> Degradation? {
        state.withLock { $0.policy.evaluate(now: now) }
    }

    var step: Degradation { state.withLock { $0.policy.step } }

    /// The histogram of frame times.
    var frames: MixerFrames { state.withLock { $0.frames } }

    /// The load for reports.
    var load: ProgramLoad {
        state.withLock { state in
            ProgramLoad(
                degradation: state.policy.step,
                reason: state.policy.reason,
                ratio: state.policy.ratio
            )
        }
    }
}

/// The processor load of a program and the degradation that follows from it.
public struct ProgramLoad: Sendable, Equatable {
    /// The degradation step in force.
    public var degradation: Degradation
    /// The reason; nil without degradation.
    public var reason: MixerLoad.Reason?
    /// The 95th percentile of the frame times as a fraction of the frame interval.
    public var ratio: Double

    /// Makes a load.
    public init(degradation: Degradation = .none, reason: MixerLoad.Reason? = nil, ratio: Double = 0) {
        self.degradation = degradation
        self.reason = reason
        self.ratio = ratio
    }
}

/// Simulates the frame times of a machine of any speed, for programs driven by their caller.
struct SimulatedLoad {
    private let interval: Double
    private let loadMonitor: LoadMonitor
    /// Seconds that a frame takes at a time on a step, by the wall clock and by the processor's.
    private let work: (MonotonicTime, Degradation) -> (seconds: Double, processor: Double)
    private var nextFrame: MonotonicTime
    private var nextEvaluation: MonotonicTime

    /// - Parameters:
    ///   - start: When the program begins.
    ///   - rate: Frames per second.
    ///   - policy: The degradation rules.
    ///   - stretch: The ratio of wall-clock to processor time at a time, as if other processes ran.
    ///   - work: Processor seconds that a frame takes at a time on a step.
    init(
        start: MonotonicTime,
        rate: Double,
        policy: DegradationPolicy = DegradationPolicy(),
        stretch: @escaping (MonotonicTime) -> Double = { _ in 1 },
        work: @escaping (MonotonicTime, Degradation) -> Double
    ) {
        interval = 1 / rate
        loadMonitor = LoadMonitor(budget: 1 / rate, policy: policy)
        self.work = { now, step in
            let processor = work(now, step)
            return (processor * stretch(now), processor)
        }
        nextFrame = start
        nextEvaluation = start
    }

    var load: ProgramLoad { loadMonitor.load }

    /// Simulates up to `now`; returns the new step, if it changes.
    mutating func advance(to now: MonotonicTime) -> Degradation? {
        while nextFrame <= now {
            let took = work(nextFrame, loadMonitor.step)
            loadMonitor.coded(in: took.seconds, processor: took.processor, now: nextFrame)
            nextFrame = nextFrame.advanced(seconds: interval)
        }
        guard nextEvaluation <= now else { return nil }
        nextEvaluation = nextEvaluation.advanced(milliseconds: 500)
        return loadMonitor.evaluate(now: now)
    }
}
