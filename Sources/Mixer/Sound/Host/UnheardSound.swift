/// Which of a host's sound came while nothing of the host was to be heard; none of that is heard later.
///
/// What is held back against jitter would else be heard when a microphone is switched on, or the stage is shown, though
/// it was said before. It goes by the times of arrival alone, as the program's time sees them, so that a recording of
/// them repeats it exactly.
struct UnheardSound: Sendable {
    /// What of a host's sound may be heard.
    enum Permission: Sendable, Equatable {
        case nothing
        /// Everything later than this time, in the host's unified milliseconds; nil for all there is.
        case after(Int64?)
    }

    /// Milliseconds after the switch for which what comes may still be from before it.
    ///
    /// It was on its way through the gateway then.
    static let travel = 20.0
    /// More than a burst of twelve seconds holds.
    private static let mostWaiting = 1024

    /// Sound that has come and is not judged yet.
    private var waiting = Fifo<(timestamp: Int64, arrival: Double)>()
    /// Nothing is hidden of a host before it is told to be.
    private var isHeard = true
    /// What comes up to this moment is not to be heard, in milliseconds of program time.
    private var closedUntil = -Double.infinity
    /// The last of what was not to be heard, in the host's unified milliseconds.
    private var newest: Int64?

    /// Takes in that sound of unified time `timestamp` came at `arrival`, both in milliseconds.
    mutating func arrived(_ timestamp: Int64, at arrival: Double) {
        if waiting.count == Self.mostWaiting, let oldest = waiting.popFirst() { judge(oldest) }
        waiting.append((timestamp, arrival))
    }

    /// What may be heard at program time `now`, when the host is in the mix from then on, or is not.
    mutating func permission(at now: Double, isHeard: Bool) -> Permission {
        if isHeard != self.isHeard {
            self.isHeard = isHeard
            if isHeard { closedUntil = now + Self.travel }
        }
        let settled = now - HostTimeline.patience
        while let next = waiting.first, next.arrival <= settled {
            _ = waiting.popFirst()
            judge(next)
        }
        return isHeard && settled >= closedUntil ? .after(newest) : .nothing
    }

    private mutating func judge(_ sound: (timestamp: Int64, arrival: Double)) {
        guard !isHeard || sound.arrival <= closedUntil else { return }
        newest = max(newest ?? sound.timestamp, sound.timestamp)
    }
}
