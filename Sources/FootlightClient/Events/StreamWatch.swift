/// When an event stream counts as dead: no answer, no first event, or silence.
///
/// Pure rules: each sign brings its time along, and whoever owns the watch looks again at `deadline`.
struct StreamWatch: Sendable, Equatable {
    enum Stage: Sendable, Equatable {
        case connecting
        /// The answer has begun; what the stream is to begin with has not come.
        case opened
        case following
    }

    private let limits: ClientLimits
    private(set) var stage = Stage.connecting
    /// When the stream is dead unless something comes.
    private(set) var deadline: Duration

    init(_ limits: ClientLimits, at now: Duration) {
        self.limits = limits
        deadline = now + limits.answer
    }

    /// The answer has begun.
    mutating func opened(at now: Duration) {
        guard stage == .connecting else { return }
        stage = .opened
        deadline = now + limits.firstEvent
    }

    /// What the stream is to begin with has come.
    mutating func began(at now: Duration) {
        stage = .following
        deadline = now + limits.silence
    }

    /// Anything has come, and be it a comment; before the beginning that proves nothing.
    mutating func heard(at now: Duration) {
        if stage == .following { deadline = now + limits.silence }
    }
}
