import Media

/// Tells a silent peer from a dead one: a ping after silence, and the end when nothing at all answers it.
struct Liveness: Sendable {
    /// What to do at a tick.
    enum Action: Sendable, Equatable {
        /// Ask for a sign of life, and look again when the time for it has passed.
        case ping
        /// Look again; the peer was heard.
        case wait
        /// The peer is gone.
        case timedOut
    }

    private var pingedAt: MonotonicTime?
    private var heardAt: MonotonicTime

    init(now: MonotonicTime) {
        heardAt = now
    }

    /// Any byte from the peer.
    mutating func heard(at now: MonotonicTime) {
        heardAt = now
    }

    /// The time for the next ping, or for the end of the last one's deadline, has come.
    mutating func tick(at now: MonotonicTime) -> Action {
        guard let pinged = pingedAt else {
            pingedAt = now
            return .ping
        }
        guard heardAt >= pinged else { return .timedOut }
        pingedAt = nil
        return .wait
    }
}
