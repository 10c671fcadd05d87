import Media
import Testing

@Suite("What one client may have open")
struct ClientLimiterTests {
    @Test("Up to the limit, beyond it what is extra, and again when something ends, also without being said")
    func limit() throws {
        let limiter = ClientLimiter(limit: 2)
        let first = try #require(limiter.enter(1))
        var second = limiter.enter(1)
        #expect(second != nil && limiter.enter(1) == nil && limiter.count(of: 1) == 2)
        #expect(limiter.enter(2) != nil)
        let third = limiter.enter(1) { 1 }
        #expect(third != nil && limiter.enter(1, extra: { 1 }) == nil)
        first.leave()
        first.leave()
        #expect(limiter.count(of: 1) == 2)
        second = nil
        #expect(limiter.count(of: 1) == 1 && limiter.count(of: 2) == 0)
        #expect(limiter.refused == 2)
        third?.leave()
        #expect(limiter.count(of: 1) == 0)
    }

    @Test("Without a limit, or without a client, nothing is refused")
    func unlimited() {
        let free = ClientLimiter(limit: nil)
        #expect((0..<1_000).compactMap { _ in free.enter(1) }.count == 1_000)
        let nobody = ClientLimiter(limit: 1)
        #expect((0..<10).compactMap { _ in nobody.enter(nil) }.count == 10)
    }
}
