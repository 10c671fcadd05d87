import Media
import Stage

/// What is known of an output's spare address before it is needed, and when to look again: rules alone.
///
/// A look is a connection up to the point where a stream would be offered, and no further: see `SpareRun`.
struct SpareWatch: Sendable {
    /// What whoever looks does next.
    enum Step: Sendable, Equatable {
        case look
        case wait(until: MonotonicTime)
        case end
    }

    /// Why the spare cannot be had; nil when it can, and when nobody has looked yet.
    private(set) var fault: OutputFault?
    private let configuration: PushConfiguration
    private var nextAt: MonotonicTime?

    init(configuration: PushConfiguration) {
        self.configuration = configuration
    }

    /// - Parameter isInUse: The spare is pushed to, or tried, which says more than any look.
    mutating func step(now: MonotonicTime, isInUse: Bool) -> Step {
        if let nextAt, now < nextAt { return .wait(until: nextAt) }
        guard isInUse else { return .look }
        let next = now.advanced(seconds: configuration.spareInterval)
        nextAt = next
        return .wait(until: next)
    }

    /// Takes in what a look came to.
    ///
    /// - Parameters:
    ///   - error: nil when the spare would take a stream, as far as one can tell.
    ///   - chance: A random number from 0 to 1, for the jitter.
    mutating func looked(_ error: PushError?, now: MonotonicTime, chance: Double) {
        // A machine that is short of something says nothing about the spare.
        if error?.code != .local {
            fault = error.map { OutputFault(FaultClassifier.code(of: $0), $0.message, retry: .soon) }
        }
        let delay = error == nil ? configuration.spareInterval : configuration.slowRetry
        nextAt = now.advanced(seconds: configuration.backOff.jittered(delay, chance: chance))
    }

    /// The spare took the stream itself.
    mutating func proved() {
        fault = nil
    }
}
