import FootlightModel
import Testing

@testable import Webhooks

@Suite("Delivery scheduler")
struct DeliverySchedulerTests {
    /// A scheduler with manual time and randomness.
    private struct Run {
        var scheduler: DeliveryScheduler
        var now = 1_000_000.0
        var chance = 0.5

        init(_ schedule: RetrySchedule = .init()) {
            scheduler = DeliveryScheduler(schedule: schedule)
        }

        mutating func fail(
            _ outcome: DeliveryOutcome = DeliveryOutcome(.timeout),
            tries: Int = 1
        ) -> DeliveryScheduler.Verdict {
            #expect(scheduler.next(at: now) == .send)
            return scheduler.finished(outcome, tries: tries, at: now, chance: chance)
        }

        /// Returns the seconds until the next attempt.
        var wait: Double? {
            var copy = scheduler
            guard case .wait(let until) = copy.next(at: now) else { return nil }
            // Rounded to milliseconds, because sums with a date lose precision.
            return ((until - now) * 1000).rounded() / 1000
        }
    }

    @Test(
        "retries after 5 s, 5 min, 30 min, 2, 5, 10, 14, 20 and 24 h, then disables the endpoint"
    )
    func table() {
        var run = Run()
        var waits: [Double] = []
        for _ in 1...9 {
            #expect(run.fail() == .again)
            waits.append(run.wait ?? -1)
            run.now += run.wait ?? 0
        }
        #expect(waits == [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400])
        #expect(run.fail() == .disable(.failing))
        #expect(run.scheduler.next(at: run.now + 1e9) == .rest)
    }

    @Test("jitter changes each delay by a tenth, and failing still disables", arguments: [0.0, 1.0])
    func jitter(chance: Double) {
        var run = Run()
        run.chance = chance
        for delay in RetrySchedule.usualDelays {
            #expect(run.fail() == .again)
            #expect(abs((run.wait ?? 0) - delay * (chance == 0 ? 0.9 : 1.1)) < 0.01)
            run.now += run.wait ?? 0
        }
        #expect(run.fail() == .disable(.failing))
    }

    @Test("sends one message at a time; an accepted one resets the failures")
    func order() {
        var run = Run()
        #expect(run.scheduler.next(at: run.now) == .send)
        #expect(run.scheduler.next(at: run.now) == .rest)
        #expect(run.scheduler.finished(DeliveryOutcome(.closed), tries: 1, at: run.now, chance: 0.5) == .again)
        run.now += 5
        #expect(run.scheduler.next(at: run.now) == .send)
        #expect(run.scheduler.finished(DeliveryOutcome(status: 204), tries: 2, at: run.now, chance: 0.5) == .delivered)
        #expect(run.scheduler.health == EndpointHealth())
        #expect(run.scheduler.next(at: run.now) == .send)
        let seen = run.scheduler.queueVersion
        run.scheduler.foundEmpty(asOf: seen)
        #expect(run.scheduler.next(at: run.now) == .rest)
        run.scheduler.queued(at: run.now)
        #expect(run.scheduler.next(at: run.now) == .send)
        // A message queued during the database read is not lost.
        run.scheduler.queued(at: run.now)
        run.scheduler.foundEmpty(asOf: seen + 1)
        #expect(run.scheduler.next(at: run.now) == .send)
    }

    @Test("a queued message brings the retry forward, to five minutes after the last failure at the earliest")
    func probeInterval() {
        var run = Run()
        for _ in 1...4 {
            #expect(run.fail() == .again)
            run.now += run.wait ?? 0
        }
        #expect(run.fail() == .again)
        #expect(run.wait == 18_000)
        run.now += 10
        run.scheduler.queued(at: run.now)
        #expect(run.wait == 290)
        run.now += 4000
        #expect(run.fail() == .again)
        run.now += 4000
        run.scheduler.queued(at: run.now)
        #expect(run.scheduler.next(at: run.now) == .send)
    }

    @Test("honours Retry-After up to a maximum, also when messages are queued")
    func asked() {
        var run = Run()
        #expect(run.fail(DeliveryOutcome(status: 429, retryAfter: 1000)) == .again)
        #expect(run.wait == 1050)
        run.now += 600
        run.scheduler.queued(at: run.now)
        #expect(run.wait == 450)
        run.now += 450
        #expect(run.fail(DeliveryOutcome(status: 503, retryAfter: 1e9)) == .again)
        #expect(run.wait == 90_720)
        run.now += run.wait ?? 0
        #expect(run.fail(DeliveryOutcome(status: 503, retryAfter: 0)) == .again)
        #expect(run.wait == 1.05)
    }

    @Test("410 disables the endpoint; enabling it resets the state")
    func gone() {
        var run = Run()
        #expect(run.fail() == .again)
        run.now += 5
        #expect(run.fail(DeliveryOutcome(status: 410)) == .disable(.gone))
        run.scheduler.queued(at: run.now)
        #expect(run.scheduler.next(at: run.now) == .rest)
        run.scheduler.enable(true)
        #expect(run.scheduler.health == EndpointHealth())
        #expect(run.scheduler.next(at: run.now) == .send)
    }

    @Test(
        "gives up a message rejected three times by content; an endpoint that accepts nothing is still disabled"
    )
    func content() {
        var run = Run()
        for (number, status) in [400, 422, 413].enumerated() {
            let verdict = run.fail(DeliveryOutcome(status: status), tries: number + 1)
            #expect(verdict == (number == 2 ? .givenUp : .again))
            run.now += run.wait ?? 0
        }
        #expect(run.scheduler.next(at: run.now) == .send)
        #expect(run.scheduler.finished(DeliveryOutcome(status: 500), tries: 9, at: run.now, chance: 0.5) == .again)
        run.now += RetrySchedule().giveUpAfter
        #expect(run.fail(DeliveryOutcome(status: 400), tries: 1) == .disable(.failing))
    }

    @Test("continues with the stored state after a restart")
    func restart() {
        var run = Run()
        #expect(run.fail() == .again)
        run.now += 5
        #expect(run.fail() == .again)
        var later = DeliveryScheduler(schedule: RetrySchedule(), health: run.scheduler.health)
        #expect(later.next(at: run.now + 100) == .wait(until: run.now + 300))
        #expect(later.next(at: run.now + 300) == .send)
    }

    @Test(
        "parses Retry-After as seconds or a date",
        arguments: [
            ("120", 120.0), (" 7 ", 7), ("Fri, 01 Jan 2027 00:01:00 GMT", 60), ("Thu, 31 Dec 2026 00:00:00 GMT", 0),
        ]
    )
    func retryAfter(text: String, seconds: Double) {
        #expect(RetryAfter.seconds(text, now: 1_798_761_600) == seconds)
    }

    @Test(
        "ignores any other Retry-After",
        arguments: [nil, "", "soon", "-1", "1.5", String(repeating: "1", count: 70)]
    )
    func retryAfterNothing(text: String?) {
        #expect(RetryAfter.seconds(text, now: 0) == nil)
    }

    @Test(
        "translates the status of a response",
        arguments: [
            (200, "delivered"), (299, "delivered"), (301, "redirect"), (400, "refused"), (410, "gone"),
            (500, "refused"),
        ]
    )
    func outcomes(status: Int, kind: String) {
        #expect(DeliveryOutcome(status: status).kind.rawValue == kind)
    }
}
