/// Throttles `viewership.updated`: at most one a second, and always one after the last change.
struct ViewershipThrottle: Sendable, Equatable {
    /// The minimum interval, in seconds.
    static let interval = 1.0

    private var isDue = false
    private var sentAt: Double?
    /// The last known number of viewers.
    private var lastCount: Int?

    /// Records a possible change.
    mutating func changed() {
        isDue = true
    }

    /// Records the number of viewers; an unchanged number is ignored.
    mutating func changed(to viewers: Int) {
        guard viewers != lastCount else { return }
        lastCount = viewers
        isDue = true
    }

    /// Whether an event is due now; called periodically.
    mutating func shouldSend(at now: Double) -> Bool {
        guard isDue, sentAt.map({ now - $0 >= Self.interval }) ?? true else { return false }
        markSent(at: now)
        return true
    }

    /// Records that an event was sent.
    mutating func markSent(at now: Double) {
        isDue = false
        sentAt = now
    }
}
