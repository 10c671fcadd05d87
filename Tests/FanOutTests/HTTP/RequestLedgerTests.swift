@testable import FanOut
import Media
import NIOCore
import Testing

@Suite("Requests by address")
struct RequestLedgerTests {
    private let start = MonotonicTime(nanoseconds: 5_000_000_000)

    @Test("A burst is taken at once, then as many a second as agreed, and one address does not touch another")
    func bucket() {
        var ledger = RequestLedger(perSecond: 100, burst: 200)
        let taken = (0..<300).count { _ in ledger.takesRequest(from: "a", now: start) }
        #expect(taken == 200)
        let other = ledger.takesRequest(from: "b", now: start)
        #expect(other)
        var later = 0
        for tenth in 1...20 {
            let now = start.advanced(milliseconds: Int64(tenth) * 100)
            for _ in 0..<50 where ledger.takesRequest(from: "a", now: now) { later += 1 }
        }
        #expect((199...201).contains(later))
        let rested = (0..<300).count { _ in ledger.takesRequest(from: "a", now: start.advanced(seconds: 60)) }
        #expect(rested == 200)
    }

    @Test("It remembers no more addresses than it was given room for, and never who has rested")
    func capacity() {
        var ledger = RequestLedger(perSecond: 1, burst: 2, capacity: 100)
        for number in 0..<99 { _ = ledger.takesRequest(from: "\(number)", now: start) }
        #expect(ledger.count == 99)
        let now = start.advanced(seconds: 10)
        _ = ledger.takesRequest(from: "busy", now: now)
        _ = ledger.takesRequest(from: "busy", now: now)
        _ = ledger.takesRequest(from: "one more", now: now)
        #expect(ledger.count == 2)
        let third = ledger.takesRequest(from: "busy", now: now)
        #expect(!third)
        for number in 0..<1_000 { _ = ledger.takesRequest(from: "\(number)", now: now) }
        #expect(ledger.count <= 100)
    }

    @Test("Loopback is spared unless told otherwise")
    func loopback() throws {
        let here = try SocketAddress(ipAddress: "127.0.0.1", port: 1)
        let there = try SocketAddress(ipAddress: "192.0.2.7", port: 1)
        let sparing = RequestBudget(HTTPLimits())
        #expect(sparing.account(of: here) == nil)
        #expect(sparing.account(of: try SocketAddress(ipAddress: "::1", port: 1)) == nil)
        #expect(sparing.account(of: there) == "192.0.2.7")
        #expect(RequestBudget(HTTPLimits(sparesLoopback: false)).account(of: here) == "127.0.0.1")
        #expect(RequestBudget(HTTPLimits(requests: nil)).account(of: there) == nil)
    }
}
