/// When the next message goes to one endpoint, and what a failure means; rules without I/O.
///
/// Messages go one at a time and in order: while the oldest one fails, those behind it wait. The wait grows with each
/// failure in a row, but the news of another event brings the next try forward, so that an endpoint that has come back
/// is found while there is something to tell. An endpoint that takes nothing for as long as tries are made is given up.
struct EndpointCourse: Sendable, Equatable {
    /// What to do now.
    enum Step: Equatable {
        /// Send the oldest message.
        case send
        /// Ask again at this moment, or when there is news.
        case wait(until: Double)
        /// Ask again when there is news.
        case rest
    }

    /// What becomes of the delivery that was tried.
    enum Verdict: Equatable {
        case delivered
        /// It stays the oldest one.
        case again
        /// The endpoint will not have it; the next one gets its turn.
        case givenUp
        /// The endpoint gets no more, and with it everything that waits is given up.
        case disable(WebhookEndpoint.DisabledReason)
    }

    let schedule: RetrySchedule
    private(set) var health: EndpointHealth
    private(set) var isEnabled: Bool
    private var isSending = false
    /// Something may wait to be sent.
    private var hasNews = true
    /// Counts the news, to tell those that came while somebody looked.
    private(set) var news: UInt64 = 0

    init(schedule: RetrySchedule, health: EndpointHealth = .init(), isEnabled: Bool = true) {
        self.schedule = schedule
        self.health = health
        self.isEnabled = isEnabled
    }

    /// The next thing to do; after `send` nothing until its end is told.
    mutating func next(at now: Double) -> Step {
        guard isEnabled, hasNews, !isSending else { return .rest }
        if let next = health.nextTry, next > now { return .wait(until: next) }
        isSending = true
        return .send
    }

    /// Another message waits.
    mutating func queued(at now: Double) {
        hasNews = true
        news += 1
        guard let next = health.nextTry, let failedAt = health.failedAt, !health.isAsked else { return }
        health.nextTry = min(next, max(now, failedAt + schedule.probing))
    }

    /// Nothing was there to be sent.
    ///
    /// - Parameter seen: `news` at the time of looking.
    mutating func foundNothing(asOf seen: UInt64) {
        isSending = false
        if news == seen { hasNews = false }
    }

    /// Nobody knows what there is to be sent, for the database cannot be read.
    mutating func lookedInVain(at now: Double) {
        isSending = false
        health.nextTry = max(health.nextTry ?? 0, now + schedule.delay(after: 1, asked: nil, chance: 0.5))
    }

    /// A try is over.
    ///
    /// - Parameters:
    ///   - tries: Tries of this message, the latest included.
    ///   - chance: 0 to 1, for the jitter.
    mutating func finished(_ outcome: DeliveryOutcome, tries: Int, at now: Double, chance: Double) -> Verdict {
        isSending = false
        switch outcome.kind {
        case .delivered:
            recovered()
            return .delivered
        case .gone:
            isEnabled = false
            return .disable(.gone)
        default:
            break
        }
        let since = health.failingSince ?? now
        health.failures += 1
        health.failingSince = since
        health.failedAt = now
        guard now - since < schedule.patience else {
            isEnabled = false
            return .disable(.failing)
        }
        if outcome.isAboutContent, tries >= schedule.triesOfContent {
            // The next message has its own tries; that nothing is taken is remembered.
            health.failures = 0
            health.nextTry = nil
            return .givenUp
        }
        health.isAsked = outcome.retryAfter != nil
        health.nextTry = now + schedule.delay(after: health.failures, asked: outcome.retryAfter, chance: chance)
        return .again
    }

    /// The endpoint was seen to take something, or an operator says that it will: what waits goes at once.
    mutating func recovered() {
        let dropped = health.dropped
        health = EndpointHealth()
        health.dropped = dropped
    }

    /// An operator turned the endpoint on or off.
    mutating func enable(_ isEnabled: Bool) {
        if isEnabled, !self.isEnabled { recovered() }
        self.isEnabled = isEnabled
        hasNews = true
    }

    /// Messages were given up because too many waited.
    mutating func dropped(_ count: Int) {
        health.dropped += count
    }
}
