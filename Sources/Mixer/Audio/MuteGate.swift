import DequeModule

/// Identifies the audio that arrived while a host was muted, so that it is not played later.
///
/// Without the gate, audio in the jitter buffer would be heard when a microphone is switched on, or the stage goes on
/// air, though it was spoken before. The decision depends on arrival times alone, in program time, so that a recording
/// of the arrivals repeats it exactly.
struct MuteGate: Sendable {
    /// The part of a host's audio that may be heard.
    enum Permission: Sendable, Equatable {
        case nothing
        /// Everything later than this time, in the host's unified milliseconds; nil for all audio.
        case after(Int64?)
    }

    /// Milliseconds after unmuting in which packets from before it may still arrive.
    ///
    /// They were in transit through the gateway at that time.
    static let transitAllowance = 20.0
    /// More than a burst of twelve seconds holds.
    private static let maximumQueued = 1024

    /// Packets that have arrived and are not evaluated yet.
    private var waiting = Deque<(timestamp: Int64, arrival: Double)>()
    /// Whether the host is unmuted; initially it is.
    private var isAudible = true
    /// Packets that arrive up to this program time, in milliseconds, must not be heard.
    private var closedUntil = -Double.infinity
    /// The newest packet that must not be heard, in the host's unified milliseconds.
    private var newest: Int64?

    /// Records that audio of unified time `timestamp` came at `arrival`, both in milliseconds.
    mutating func observe(_ timestamp: Int64, at arrival: Double) {
        if waiting.count == Self.maximumQueued, let oldest = waiting.popFirst() { evaluate(oldest) }
        waiting.append((timestamp, arrival))
    }

    /// Returns what may be heard at program time `now`, when the host is in the mix from then on, or is not.
    mutating func permission(at now: Double, isAudible: Bool) -> Permission {
        if isAudible != self.isAudible {
            self.isAudible = isAudible
            if isAudible { closedUntil = now + Self.transitAllowance }
        }
        let settled = now - HostTimeline.processingDelay
        while let next = waiting.first, next.arrival <= settled {
            _ = waiting.popFirst()
            evaluate(next)
        }
        return isAudible && settled >= closedUntil ? .after(newest) : .nothing
    }

    private mutating func evaluate(_ audio: (timestamp: Int64, arrival: Double)) {
        guard !isAudible || audio.arrival <= closedUntil else { return }
        newest = max(newest ?? audio.timestamp, audio.timestamp)
    }
}
