import Testing

@testable import Webhooks

@Suite("When a webhook is tried, on a clock that is moved by hand")
struct EndpointCourseTests {
    /// A course whose time and chance are the test's.
    private struct Run {
        var course: EndpointCourse
        var now = 1_000_000.0
        var chance = 0.5

        init(_ schedule: RetrySchedule = .init()) {
            course = EndpointCourse(schedule: schedule)
        }

        mutating func fail(
            _ outcome: DeliveryOutcome = DeliveryOutcome(.timeout),
            tries: Int = 1
        ) -> EndpointCourse.Verdict {
            #expect(course.next(at: now) == .send)
            return course.finished(outcome, tries: tries, at: now, chance: chance)
        }

        /// Seconds until the next try.
        var wait: Double? {
            var copy = course
            guard case .wait(let until) = copy.next(at: now) else { return nil }
            // To the millisecond: what is added to a date loses its last digits.
            return ((until - now) * 1000).rounded() / 1000
        }
    }

    @Test(
        "The waits grow as the table says: 5 s, 5 min, 30 min, 2, 5, 10, 14, 20 and 24 h; then the endpoint is given up"
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
        #expect(run.course.next(at: run.now + 1e9) == .rest)
    }

    @Test("Chance moves each wait by a tenth, and the tries still end the endpoint", arguments: [0.0, 1.0])
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

    @Test("One message at a time; a message that is taken makes way for the next at once, and forgets the failures")
    func order() {
        var run = Run()
        #expect(run.course.next(at: run.now) == .send)
        #expect(run.course.next(at: run.now) == .rest)
        #expect(run.course.finished(DeliveryOutcome(.closed), tries: 1, at: run.now, chance: 0.5) == .again)
        run.now += 5
        #expect(run.course.next(at: run.now) == .send)
        #expect(run.course.finished(DeliveryOutcome(status: 204), tries: 2, at: run.now, chance: 0.5) == .delivered)
        #expect(run.course.health == EndpointHealth())
        #expect(run.course.next(at: run.now) == .send)
        let seen = run.course.news
        run.course.foundNothing(asOf: seen)
        #expect(run.course.next(at: run.now) == .rest)
        run.course.queued(at: run.now)
        #expect(run.course.next(at: run.now) == .send)
        // What was queued while somebody looked is not overlooked.
        run.course.queued(at: run.now)
        run.course.foundNothing(asOf: seen + 1)
        #expect(run.course.next(at: run.now) == .send)
    }

    @Test("News brings the next try forward, but not nearer than five minutes to the last failure")
    func probing() {
        var run = Run()
        for _ in 1...4 {
            #expect(run.fail() == .again)
            run.now += run.wait ?? 0
        }
        #expect(run.fail() == .again)
        #expect(run.wait == 18_000)
        run.now += 10
        run.course.queued(at: run.now)
        #expect(run.wait == 290)
        run.now += 4000
        #expect(run.fail() == .again)
        run.now += 4000
        run.course.queued(at: run.now)
        #expect(run.course.next(at: run.now) == .send)
    }

    @Test("Retry-After is heeded: not earlier, not for ever, and not brought forward by news")
    func asked() {
        var run = Run()
        #expect(run.fail(DeliveryOutcome(status: 429, retryAfter: 1000)) == .again)
        #expect(run.wait == 1050)
        run.now += 600
        run.course.queued(at: run.now)
        #expect(run.wait == 450)
        run.now += 450
        #expect(run.fail(DeliveryOutcome(status: 503, retryAfter: 1e9)) == .again)
        #expect(run.wait == 90_720)
        run.now += run.wait ?? 0
        #expect(run.fail(DeliveryOutcome(status: 503, retryAfter: 0)) == .again)
        #expect(run.wait == 1.05)
    }

    @Test("410 ends it at once; an operator who turns it on again begins anew")
    func gone() {
        var run = Run()
        #expect(run.fail() == .again)
        run.now += 5
        #expect(run.fail(DeliveryOutcome(status: 410)) == .disable(.gone))
        run.course.queued(at: run.now)
        #expect(run.course.next(at: run.now) == .rest)
        run.course.enable(true)
        #expect(run.course.health == EndpointHealth())
        #expect(run.course.next(at: run.now) == .send)
    }

    @Test(
        "A message that is refused three times for what it holds makes way; nothing taken at all still ends the endpoint"
    )
    func content() {
        var run = Run()
        for (number, status) in [400, 422, 413].enumerated() {
            let verdict = run.fail(DeliveryOutcome(status: status), tries: number + 1)
            #expect(verdict == (number == 2 ? .givenUp : .again))
            run.now += run.wait ?? 0
        }
        #expect(run.course.next(at: run.now) == .send)
        #expect(run.course.finished(DeliveryOutcome(status: 500), tries: 9, at: run.now, chance: 0.5) == .again)
        run.now += RetrySchedule().patience
        #expect(run.fail(DeliveryOutcome(status: 400), tries: 1) == .disable(.failing))
    }

    @Test("What a restart finds goes on where it was")
    func restart() {
        var run = Run()
        #expect(run.fail() == .again)
        run.now += 5
        #expect(run.fail() == .again)
        var later = EndpointCourse(schedule: RetrySchedule(), health: run.course.health)
        #expect(later.next(at: run.now + 100) == .wait(until: run.now + 300))
        #expect(later.next(at: run.now + 300) == .send)
    }

    @Test(
        "Retry-After is seconds or a date",
        arguments: [
            ("120", 120.0), (" 7 ", 7), ("Fri, 01 Jan 2027 00:01:00 GMT", 60), ("Thu, 31 Dec 2026 00:00:00 GMT", 0),
        ]
    )
    func retryAfter(text: String, seconds: Double) {
        #expect(RetryAfter.seconds(text, now: 1_798_761_600) == seconds)
    }

    @Test(
        "Anything else in Retry-After says nothing",
        arguments: [nil, "", "soon", "-1", "1.5", String(repeating: "1", count: 70)]
    )
    func retryAfterNothing(text: String?) {
        #expect(RetryAfter.seconds(text, now: 0) == nil)
    }

    @Test(
        "What an answer means",
        arguments: [
            (200, "delivered"), (299, "delivered"), (301, "redirect"), (400, "refused"), (410, "gone"),
            (500, "refused"),
        ]
    )
    func outcomes(status: Int, kind: String) {
        #expect(DeliveryOutcome(status: status).kind.rawValue == kind)
    }
}
