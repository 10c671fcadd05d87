import Media
import Testing

@Suite("Backoff")
struct BackoffTests {
    @Test("grows by its factor from the initial delay to the maximum")
    func growth() {
        let backoff = Backoff(initial: 0.5, maximum: 5)
        #expect((0..<6).map { backoff.delay(retry: $0, chance: 0.5) } == [0.5, 1, 2, 4, 5, 5])
        let slow = Backoff(initial: 1, maximum: 30, factor: 1.5)
        #expect((0..<3).map { slow.delay(retry: $0, chance: 0.5) } == [1, 1.5, 2.25])
    }

    @Test("spreads each delay by its jitter and no more, for any number of retries")
    func jitter() {
        let backoff = Backoff(initial: 0.5, maximum: 5, jitter: 0.25)
        #expect(backoff.delay(retry: -1, chance: 0) == 0.375)
        #expect(backoff.delay(retry: .max, chance: 1) == 6.25)
        #expect(backoff.spread(10, chance: 0) == 7.5 && backoff.spread(10, chance: 7) == 12.5)
        for _ in 0..<100 { #expect((3.75...6.25).contains(backoff.delay(retry: 40))) }
    }

    @Test("counts retries until a success")
    func retries() {
        var backoff = Backoff(initial: 1, maximum: 60)
        #expect((0..<3).map { _ in backoff.next(chance: 0.5) } == [1, 2, 4])
        backoff.reset()
        #expect(backoff.next(chance: 0.5) == 1)
    }
}
