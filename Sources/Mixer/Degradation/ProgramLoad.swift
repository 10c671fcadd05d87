/// How near a program is to the limit of what its machine can do.
public struct ProgramLoad: Sendable, Equatable {
    /// What it does without.
    public var degradation: Degradation
    /// Why: `frame_work` or `encoder_queue`; nil while nothing is left out.
    public var reason: String?
    /// The part of its time that a slow picture takes, 1 when it has none to spare.
    public var ratio: Double

    /// Makes a load.
    public init(degradation: Degradation = .none, reason: String? = nil, ratio: Double = 0) {
        self.degradation = degradation
        self.reason = reason
        self.ratio = ratio
    }
}
