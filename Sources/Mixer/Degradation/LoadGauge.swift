import Media
import Stage
import Synchronization

/// Where the threads of a program say what its pictures take, and where the step is kept that follows from it.
final class LoadGauge: Sendable {
    private struct State: Sendable {
        var ladder: DegradationLadder
        /// Seconds that the picture took which was composed last, and how many of them the processor's.
        var composing = (seconds: 0.0, processor: 0.0)
        var frames = MixerFrames()
    }

    private let budget: Double
    private let state: Mutex<State>

    /// - Parameters:
    ///   - budget: Seconds from one picture to the next.
    ///   - ladder: The rules, at their beginning.
    init(budget: Double, ladder: DegradationLadder = DegradationLadder()) {
        self.budget = budget
        state = Mutex(State(ladder: ladder))
    }

    /// Begins anew, by the rules of `ladder`.
    func follow(_ ladder: DegradationLadder) {
        state.withLock { $0.ladder = ladder }
    }

    /// A picture was composed in so many seconds.
    ///
    /// - Parameter processor: How many of them the processor worked on it; nil for all.
    func composed(in seconds: Double, processor: Double? = nil) {
        state.withLock { $0.composing = (seconds, processor ?? seconds) }
    }

    /// A picture was coded in so many seconds.
    ///
    /// Composing and coding go on beside each other, so the slower one is what counts.
    ///
    /// - Parameter processor: How many of them the processor worked on it; nil for all.
    func coded(in seconds: Double, processor: Double? = nil, now: MonotonicTime = .now()) {
        state.withLock { state in
            // With fewer pictures each has more time.
            let share = state.ladder.step >= .fewerPictures ? 1.5 : 1
            let work = max(seconds, state.composing.seconds)
            let processor = max(processor ?? seconds, state.composing.processor)
            state.frames.insert(work)
            state.ladder.picture(work: work, processor: processor, budget: budget * share, now: now)
        }
    }

    /// A picture was left out because too many waited to be coded.
    func skipped() {
        state.withLock { $0.ladder.pictureSkipped() }
    }

    /// See `DegradationLadder.look`.
    func look(now: MonotonicTime) -> Degradation? {
        state.withLock { $0.ladder.look(now: now) }
    }

    var step: Degradation { state.withLock { $0.ladder.step } }

    /// How long its pictures took.
    var frames: MixerFrames { state.withLock { $0.frames } }

    /// How the program is doing, for others.
    var load: ProgramLoad {
        state.withLock { state in
            ProgramLoad(
                degradation: state.ladder.step,
                reason: state.ladder.reason?.rawValue,
                ratio: state.ladder.ratio
            )
        }
    }
}
