import Media
import Testing

@Suite("Requests by client")
struct RateLimiterTests {
    private let start = MonotonicTime(nanoseconds: 5_000_000_000)

    @Test("A burst is taken at once, then as many a second as agreed, and one address does not touch another")
    func bucket() {
        var limiter = RateLimiter<UInt64>(perSecond: 100, burst: 200)
        let taken = (0..<300).count { _ in limiter.allowsRequest(from: 1, now: start) }
        #expect(taken == 200)
        let other = limiter.allowsRequest(from: 2, now: start)
        #expect(other)
        var later = 0
        for tenth in 1...20 {
            let now = start.advanced(milliseconds: Int64(tenth) * 100)
            for _ in 0..<50 where limiter.allowsRequest(from: 1, now: now) { later += 1 }
        }
        #expect((199...201).contains(later))
        let rested = (0..<300).count { _ in limiter.allowsRequest(from: 1, now: start.advanced(seconds: 60)) }
        #expect(rested == 200)
    }

    @Test("It remembers no more addresses than it was given room for, and never who has rested")
    func capacity() {
        var limiter = RateLimiter<UInt64>(perSecond: 1, burst: 2, capacity: 100)
        for number in 0..<99 { _ = limiter.allowsRequest(from: 100 + UInt64(number), now: start) }
        #expect(limiter.count == 99)
        let now = start.advanced(seconds: 10)
        _ = limiter.allowsRequest(from: 7, now: now)
        _ = limiter.allowsRequest(from: 7, now: now)
        _ = limiter.allowsRequest(from: 8, now: now)
        #expect(limiter.count == 2)
        let third = limiter.allowsRequest(from: 7, now: now)
        #expect(!third)
        for number in 0..<1_000 { _ = limiter.allowsRequest(from: 100 + UInt64(number), now: now) }
        #expect(limiter.count <= 100)
    }

    @Test("Whoever has used up what is granted is not forgotten, however many others come")
    func crowd() {
        var limiter = RateLimiter<UInt64>(perSecond: 0.1, burst: 20, capacity: 100)
        for _ in 0..<20 { _ = limiter.allowsRequest(from: 7, now: start) }
        for number in 0..<1_000 { _ = limiter.allowsRequest(from: 100 + UInt64(number), now: start) }
        #expect(limiter.count <= 100)
        let another = limiter.allowsRequest(from: 7, now: start)
        #expect(!another)
    }

    @Test("a client that goes on beyond the limit stays limited, and recovers after the time of one request")
    func charges() {
        var limiter = RateLimiter<String>(perSecond: 5 / 60, burst: 5.0.nextDown)
        let first = (0..<100).map { _ in limiter.chargeRequest(to: "a", now: start) }
        #expect(first == [true, true, true, true] + Array(repeating: false, count: 96))
        let other = limiter.chargeRequest(to: "b", now: start)
        #expect(other)
        let early = limiter.chargeRequest(to: "a", now: start.advanced(seconds: 11))
        #expect(!early)
        let later = limiter.chargeRequest(to: "a", now: start.advanced(seconds: 75))
        #expect(later)
    }

    @Test("a refunded request costs nothing, and the delay is the time until the next one")
    func refunds() {
        var limiter = RateLimiter<String>(perSecond: 0.1, burst: 5)
        for _ in 0..<50 {
            let isAllowed = limiter.allowsRequest(from: "a", now: start)
            #expect(isAllowed)
            limiter.refundRequest(to: "a", now: start)
        }
        #expect(limiter.count == 0)
        for _ in 0..<5 {
            #expect(limiter.delay(of: "a", now: start) == 0)
            _ = limiter.allowsRequest(from: "a", now: start)
        }
        #expect(abs(limiter.delay(of: "a", now: start) - 10) < 1e-9)
        #expect(abs(limiter.delay(of: "a", now: start.advanced(seconds: 4)) - 6) < 1e-9)
        #expect(limiter.delay(of: "b", now: start) == 0)
    }

    @Test("charges and allowances share the bounded number of clients")
    func bounded() {
        var limiter = RateLimiter<Int>(perSecond: 1, burst: 1, capacity: 100)
        for number in 0..<1_000 { _ = limiter.chargeRequest(to: number, now: start) }
        #expect(limiter.count <= 100)
    }
}
