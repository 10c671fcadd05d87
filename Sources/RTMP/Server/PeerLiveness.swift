import Media
import NIOCore

/// Detects dead peers by pings.
///
/// A publisher may have a poor uplink and is pinged rarely. A viewer must receive data or answer pings.
struct PeerLiveness: Sendable {
    /// The ping schedule and the timeout.
    enum Rule: Sendable, Equatable {
        /// Pings at every other tick and times out at the next one if nothing was received.
        case publisher
        /// Pings at each tick without progress and times out after three unanswered pings; a viewer with progress is
        /// pinged after `silence` and times out after `answer`.
        case viewer(silence: TimeAmount, answer: TimeAmount)
    }

    /// The result of a tick.
    enum Action: Sendable, Equatable {
        /// Send a ping and tick again after the ping timeout.
        case ping
        /// Tick again later.
        case wait
        /// The peer is considered dead.
        case timedOut
    }

    /// The number of pings that a viewer may leave unanswered.
    private static let maximumUnanswered = 3

    private let rule: Rule
    private var lastActivity: MonotonicTime
    /// The time of the first unanswered ping.
    private var pingedAt: MonotonicTime?
    /// The number of pings since the last activity or progress.
    private var unanswered = 0
    /// The bytes sent at the last tick.
    private var sentBytes = 0

    init(_ rule: Rule = .publisher, now: MonotonicTime) {
        self.rule = rule
        lastActivity = now
    }

    /// Records that data was received.
    mutating func recordActivity(at now: MonotonicTime) {
        lastActivity = now
    }

    /// Evaluates the schedule when a ping or its deadline is due.
    ///
    /// - Parameter sentBytes: The media bytes sent to a viewer so far.
    mutating func tick(at now: MonotonicTime, sentBytes: Int = 0) -> Action {
        switch rule {
        case .publisher:
            return tickPublisher(at: now)
        case .viewer(let silence, let answer):
            if let pingedAt, lastActivity >= pingedAt {
                self.pingedAt = nil
                unanswered = 0
            }
            defer { self.sentBytes = max(sentBytes, self.sentBytes) }
            guard sentBytes > self.sentBytes else { return tickIdleViewer(at: now) }
            unanswered = 0
            if let pingedAt {
                return now.nanoseconds - pingedAt.nanoseconds < answer.nanoseconds ? .wait : .timedOut
            }
            guard now.nanoseconds - lastActivity.nanoseconds >= silence.nanoseconds else { return .wait }
            pingedAt = now
            return .ping
        }
    }

    private mutating func tickPublisher(at now: MonotonicTime) -> Action {
        guard let pinged = pingedAt else {
            pingedAt = now
            return .ping
        }
        guard lastActivity >= pinged else { return .timedOut }
        pingedAt = nil
        return .wait
    }

    /// Handles a tick at which a viewer's sent bytes did not increase.
    private mutating func tickIdleViewer(at now: MonotonicTime) -> Action {
        guard unanswered < Self.maximumUnanswered else { return .timedOut }
        unanswered += 1
        pingedAt = pingedAt ?? now
        return .ping
    }
}
