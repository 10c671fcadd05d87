import Media
import NIOCore

/// Tells a silent peer from a dead one: a ping after silence, and the end when nothing at all answers it.
///
/// A host, whose uplink may be as bad as it likes, is asked seldom and given time. A viewer is expected to take what it is
/// given, or to answer: one that does neither counts no longer than it must.
struct Liveness: Sendable {
    /// When a peer is asked, and when it is given up.
    enum Rule: Sendable, Equatable {
        /// A ping at every other tick, and the end at the next one if nothing answered.
        case patient
        /// A ping at each tick at which nothing was taken since the one before, and the end at the tick behind the third
        /// that nothing answered. Who takes what it is given is asked after so much silence, and given so much time.
        case watchful(silence: TimeAmount, answer: TimeAmount)
    }

    /// What to do at a tick.
    enum Action: Sendable, Equatable {
        /// Ask for a sign of life, and look again when the time for it has passed.
        case ping
        /// Look again; there is no reason to ask.
        case wait
        /// The peer is gone.
        case timedOut
    }

    /// Pings that a viewer may leave unanswered.
    private static let mostUnanswered = 3

    private let rule: Rule
    private var heardAt: MonotonicTime
    /// The first ping that nothing has answered yet.
    private var pingedAt: MonotonicTime?
    /// Pings since it was heard, or took something.
    private var unanswered = 0
    /// Bytes that it had taken at the last tick.
    private var taken = 0

    init(_ rule: Rule = .patient, now: MonotonicTime) {
        self.rule = rule
        heardAt = now
    }

    /// Any byte from the peer.
    mutating func heard(at now: MonotonicTime) {
        heardAt = now
    }

    /// The time for the next ping, or for the end of the last one's deadline, has come.
    ///
    /// - Parameter taken: Bytes of media that a viewer has taken so far.
    mutating func tick(at now: MonotonicTime, taken: Int = 0) -> Action {
        switch rule {
        case .patient:
            return askPatiently(at: now)
        case .watchful(let silence, let answer):
            if let pingedAt, heardAt >= pingedAt {
                self.pingedAt = nil
                unanswered = 0
            }
            defer { self.taken = max(taken, self.taken) }
            guard taken > self.taken else { return still(at: now) }
            unanswered = 0
            if let pingedAt {
                return now.nanoseconds - pingedAt.nanoseconds < answer.nanoseconds ? .wait : .timedOut
            }
            guard now.nanoseconds - heardAt.nanoseconds >= silence.nanoseconds else { return .wait }
            pingedAt = now
            return .ping
        }
    }

    private mutating func askPatiently(at now: MonotonicTime) -> Action {
        guard let pinged = pingedAt else {
            pingedAt = now
            return .ping
        }
        guard heardAt >= pinged else { return .timedOut }
        pingedAt = nil
        return .wait
    }

    /// A viewer took nothing, as there is nothing to take or it does not.
    private mutating func still(at now: MonotonicTime) -> Action {
        guard unanswered < Self.mostUnanswered else { return .timedOut }
        unanswered += 1
        pingedAt = pingedAt ?? now
        return .ping
    }
}
