@testable import FanOut
import HTTPTypes
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

    @Test("Whoever has used up what is granted is not forgotten, however many others come")
    func crowd() {
        var ledger = RequestLedger(perSecond: 0.1, burst: 20, capacity: 100)
        for _ in 0..<20 { _ = ledger.takesRequest(from: "busy", now: start) }
        for number in 0..<1_000 { _ = ledger.takesRequest(from: "\(number)", now: start) }
        #expect(ledger.count <= 100)
        let another = ledger.takesRequest(from: "busy", now: start)
        #expect(!another)
    }

    private func address(_ text: String) throws -> SocketAddress { try SocketAddress(ipAddress: text, port: 1) }

    @Test("Loopback is spared unless told otherwise; a house with IPv6 is one client")
    func clients() throws {
        let sparing = RequestBudget(HTTPLimits())
        for here in ["127.0.0.1", "127.9.0.1", "::1", "::ffff:127.0.0.1"] {
            #expect(sparing.client(at: try address(here)) == .spared, "\(here)")
        }
        #expect(sparing.client(at: try address("192.0.2.7")) == .one("192.0.2.7"))
        #expect(sparing.client(at: try address("::ffff:192.0.2.7")) == .one("192.0.2.7"))
        for house in ["2001:db8:0:1::1", "2001:db8:0:1:ffff:ffff:ffff:ffff"] {
            #expect(sparing.client(at: try address(house)) == .one("2001:db8:0:1::/64"), "\(house)")
        }
        #expect(sparing.client(at: try address("2001:db8:0:2::1")) == .one("2001:db8:0:2::/64"))
        let strict = RequestBudget(HTTPLimits(sparesLoopback: false))
        #expect(strict.client(at: try address("127.0.0.1")) == .one("127.0.0.1"))
        #expect(RequestBudget(HTTPLimits(requests: nil)).client(at: try address("192.0.2.7")) == .spared)
    }

    @Test("Behind a server that is believed each client has its own budget; nobody else chooses whose it is")
    func proxies() throws {
        let limits = HTTPLimits(requests: (perSecond: 0.001, burst: 3))
        let proxies = try #require(TrustedProxies(["127.0.0.1", "198.51.100.0/24"]))
        let budget = RequestBudget(limits, proxies: proxies)
        func taken(_ count: Int, by peer: String, for origin: String?) throws -> Int {
            var fields = HTTPFields()
            if let origin, let name = HTTPField.Name("X-Forwarded-For") { fields[name] = origin }
            let client = budget.client(at: try address(peer))
            return (0..<count).count { _ in budget.takesRequest(from: client, fields, now: start) }
        }
        #expect(try taken(5, by: "198.51.100.1", for: "203.0.113.1") == 3)
        #expect(try taken(5, by: "198.51.100.2", for: "203.0.113.2") == 3)
        // By whatever way, and whatever it writes itself.
        #expect(try taken(5, by: "127.0.0.1", for: "192.0.2.99, 203.0.113.1") == 0)
        #expect(try taken(5, by: "203.0.113.2", for: "192.0.2.1") == 0)
        #expect(try taken(2, by: "203.0.113.3", for: "192.0.2.1") == 2)
        #expect(try taken(2, by: "203.0.113.3", for: "192.0.2.2") == 1)
        // The server itself, and what runs beside it.
        #expect(try taken(5, by: "127.0.0.1", for: nil) == 5)
        #expect(try taken(5, by: "198.51.100.1", for: nil) == 3)
        #expect(budget.refused == 17)
    }
}
