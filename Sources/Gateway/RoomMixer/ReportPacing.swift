import GatewayModel
import Media

/// Decides when the mixer reports, and when it connects to do so.
///
/// Time in, one action out. One report is on its way at a time, so nothing can pile up; what was not sent is overtaken
/// by what is true later. Ten a second while somebody is heard or anything changes, one a second in silence.
struct ReportPacing {
    enum Action: Equatable {
        case none
        case connect
        case send(MixerReportBody)
        /// The gateway owes an answer for too long.
        case close
    }

    private enum State {
        case lost(until: MonotonicTime)
        case connecting(since: MonotonicTime)
        case idle
        case waiting(since: MonotonicTime)
    }

    /// Seconds between two reports while nothing changes.
    private static let rest = 1.0
    /// Seconds in which a connection must stand, and a report be answered.
    private static let patience = 3.0
    /// Below this level in dBFS nobody cares how quiet it is.
    private static let quiet = -70.0
    /// The first wait before connecting again, in seconds, and the most it grows to.
    private static let wait = (first: 0.1, most: 5.0)

    private var state: State
    private var failures = 0
    private var last: (report: MixerReportBody, at: MonotonicTime)?

    init(now: MonotonicTime) {
        state = .lost(until: now)
    }

    /// To be called ten times a second with what is true now.
    mutating func tick(_ report: MixerReportBody, now: MonotonicTime) -> Action {
        switch state {
        case .lost(let until):
            guard now >= until else { return .none }
            state = .connecting(since: now)
            return .connect
        case .connecting(let since), .waiting(let since):
            return now.seconds(since: since) > Self.patience ? .close : .none
        case .idle:
            guard isDue(report, now: now) else { return .none }
            state = .waiting(since: now)
            last = (report, now)
            return .send(report)
        }
    }

    /// A connection stands; returns whether it is one that is waited for.
    mutating func connected() -> Bool {
        guard case .connecting = state else { return false }
        state = .idle
        // Whoever answers now may be another gateway process, which knows nothing yet.
        last = nil
        return true
    }

    /// The gateway has answered with this HTTP status; returns whether the connection is of any use.
    mutating func answered(status: Int) -> Bool {
        guard case .waiting = state, (200..<300).contains(status) else { return false }
        state = .idle
        failures = 0
        return true
    }

    /// The connection is gone, or could not be made.
    ///
    /// - Parameter jitter: Random, 0 to 1.
    mutating func closed(now: MonotonicTime, jitter: Double) {
        if case .lost = state { return }
        failures += 1
        var wait = Self.wait.first
        for _ in 1..<failures where wait < Self.wait.most { wait *= 2 }
        state = .lost(until: now.advanced(seconds: min(wait, Self.wait.most) * (0.8 + 0.4 * jitter)))
    }

    private func isDue(_ report: MixerReportBody, now: MonotonicTime) -> Bool {
        guard let last, now.seconds(since: last.at) < Self.rest else { return true }
        guard report.participants.count == last.report.participants.count,
            report.load?.level == last.report.load?.level
        else { return true }
        return zip(report.participants, last.report.participants).contains { new, old in
            new.sid != old.sid || new.subscribed != old.subscribed || (new.audioLevel == nil) != (old.audioLevel == nil)
                || max(new.audioLevel ?? Self.quiet, old.audioLevel ?? Self.quiet) > Self.quiet
        }
    }
}
