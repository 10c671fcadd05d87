import FootlightModel
import Media

/// Decides when the next message is sent to one endpoint, and what a failure means; performs no I/O.
///
/// Messages are sent one at a time and in order: while the oldest one fails, the others wait. The delay grows with each
/// consecutive failure, but a new event brings the next attempt forward, so that a recovered endpoint is detected
/// when there is something to send. An endpoint that accepts nothing for the maximum time is disabled.
struct DeliveryScheduler: Sendable, Equatable {
    /// The next action.
    enum Step: Equatable {
        /// Send the oldest message.
        case send
        /// Ask again at this time, or when a message is queued.
        case wait(until: Double)
        /// Ask again when a message is queued.
        case rest
    }

    /// The result for the attempted delivery.
    enum Verdict: Equatable {
        case delivered
        /// The delivery stays pending.
        case again
        /// The endpoint rejects the message; the next one is sent.
        case givenUp
        /// The endpoint is disabled, and all pending deliveries are given up.
        case disable(WebhookDisabledReason)
    }

    let schedule: RetrySchedule
    private(set) var health: EndpointHealth
    private(set) var isEnabled: Bool
    private var isSending = false
    /// Whether a message may be pending.
    private var hasQueuedMessage = true
    /// Counts queued messages, to detect those queued during a database read.
    private(set) var queueVersion: UInt64 = 0

    init(schedule: RetrySchedule, health: EndpointHealth = .init(), isEnabled: Bool = true) {
        self.schedule = schedule
        self.health = health
        self.isEnabled = isEnabled
    }

    /// Returns the next action; after `send`, none until the attempt is finished.
    mutating func next(at now: Double) -> Step {
        guard isEnabled, hasQueuedMessage, !isSending else { return .rest }
        if let next = health.nextTry, next > now { return .wait(until: next) }
        isSending = true
        return .send
    }

    /// Records that a message was queued.
    mutating func queued(at now: Double) {
        hasQueuedMessage = true
        queueVersion += 1
        guard let next = health.nextTry, let failedAt = health.failedAt, !health.hasRetryAfter else { return }
        health.nextTry = min(next, max(now, failedAt + schedule.probeInterval))
    }

    /// Records that no message was pending.
    ///
    /// - Parameter seen: The value of `queueVersion` before the database was read.
    mutating func foundEmpty(asOf seen: UInt64) {
        isSending = false
        if queueVersion == seen { hasQueuedMessage = false }
    }

    /// Schedules a retry after the database could not be read.
    mutating func readFailed(at now: Double) {
        isSending = false
        health.nextTry = max(health.nextTry ?? 0, now + schedule.delay(after: 1, asked: nil, chance: 0.5))
    }

    /// Records the outcome of an attempt, and returns the result for the delivery.
    ///
    /// - Parameters:
    ///   - tries: The number of attempts for this message, including the latest.
    ///   - chance: A random number from 0 to 1, for the jitter.
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
        guard now - since < schedule.giveUpAfter else {
            isEnabled = false
            return .disable(.failing)
        }
        if outcome.isAboutContent, tries >= schedule.contentAttempts {
            // The next message has its own attempts, but the time since which nothing was accepted is kept.
            health.failures = 0
            health.nextTry = nil
            return .givenUp
        }
        health.hasRetryAfter = outcome.retryAfter != nil
        health.nextTry = now + schedule.delay(after: health.failures, asked: outcome.retryAfter, chance: chance)
        return .again
    }

    /// Resets the failures, so that pending messages are sent at once.
    mutating func recovered() {
        let dropped = health.dropped
        health = EndpointHealth()
        health.dropped = dropped
    }

    /// Enables or disables the endpoint.
    mutating func enable(_ isEnabled: Bool) {
        if isEnabled, !self.isEnabled { recovered() }
        self.isEnabled = isEnabled
        hasQueuedMessage = true
    }

    /// Counts messages dropped because too many were pending.
    mutating func dropped(_ count: Int) {
        health.dropped += count
    }
}

/// The runtime state of an endpoint.
struct EndpointState: Sendable {
    var endpoint: WebhookEndpoint
    var scheduler: DeliveryScheduler
    /// The number of pending deliveries.
    var pending: Int
    /// Wakes the delivery task.
    let signal = AsyncSignal()

    init(_ endpoint: WebhookEndpoint, schedule: RetrySchedule, pending: Int = 0) {
        self.endpoint = endpoint
        self.pending = pending
        scheduler = DeliveryScheduler(schedule: schedule, health: endpoint.health, isEnabled: endpoint.disabled == nil)
    }

    /// The endpoint with its current health.
    var current: WebhookEndpoint {
        var endpoint = endpoint
        endpoint.health = scheduler.health
        return endpoint
    }
}
