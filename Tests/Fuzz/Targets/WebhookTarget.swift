@testable import Webhooks

extension FuzzTarget {
    /// The status and `Retry-After` of webhook receivers.
    static let webhook = FuzzTarget("webhook") { input in
        var input = input
        let status = 100 + Int(input.byte()) * 2
        let asked = RetryAfter.seconds(input.text, now: 1e9)
        var scheduler = DeliveryScheduler(schedule: RetrySchedule())
        _ = scheduler.next(at: 1)
        _ = scheduler.finished(
            DeliveryOutcome(status: status, retryAfter: asked),
            tries: 1,
            at: 1,
            chance: 0.5
        )
    }
}
