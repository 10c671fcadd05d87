import TestSupport
import Testing

@testable import Stage

@Suite("Viewership throttle")
struct ViewershipThrottleTests {
    @Test("V14 at most once a second, and always once after the last change")
    func throttle() {
        var generator = SeededGenerator(seed: 14)
        for _ in 0..<50 {
            var throttle = ViewershipThrottle()
            var (sentTimes, sentNumber, number) = ([Double](), 0, 0)
            var now = 0.0
            for _ in 0..<200 {
                now += Double.random(in: 0...0.3, using: &generator)
                if Int.random(in: 0..<3, using: &generator) == 0 {
                    number += Int.random(in: -2...2, using: &generator)
                    throttle.changed(to: number)
                }
                if throttle.shouldSend(at: now) {
                    sentTimes.append(now)
                    sentNumber = number
                }
            }
            for (earlier, later) in zip(sentTimes, sentTimes.dropFirst()) { #expect(later - earlier >= 1) }
            if throttle.shouldSend(at: now + 1) { sentNumber = number }
            #expect(sentNumber == number)
            #expect(throttle.shouldSend(at: now + 100) == false, "nothing changed since")
        }
    }

    @Test("V14 an unchanged number and one sent with a change of mode cause no event")
    func unchangedNumber() {
        var throttle = ViewershipThrottle()
        throttle.changed(to: 5)
        #expect(throttle.shouldSend(at: 10) == true)
        throttle.changed(to: 5)
        #expect(throttle.shouldSend(at: 20) == false)
        throttle.changed(to: 6)
        throttle.markSent(at: 20)
        #expect(throttle.shouldSend(at: 30) == false)
        throttle.changed()
        #expect(throttle.shouldSend(at: 20.9) == false)
        #expect(throttle.shouldSend(at: 21) == true)
    }

    @Test("V14 a room publishes viewer changes at most once a second")
    func room() throws {
        var run = StageFixture()
        for number in 0..<20 {
            try run.join("v\(number)", .receiveOnly)
            try run.heartbeat("v\(number)")
            run.wait(0.25)
        }
        run.wait(2)
        let updates = run.events().filter { $0.name == .viewershipUpdated }
        #expect((5...7).contains(updates.count))
        for (earlier, later) in zip(updates, updates.dropFirst()) { #expect(later.at - earlier.at >= 1) }
        #expect(updates.last.map { $0.at >= 1_005 } ?? false, "and once after the last change")
    }
}
