@testable import FanOut
import HTTPTypes
import Media
import NIOCore
import Stage
import Synchronization
import Testing

@Suite("Request rate limit per client")
struct RequestRateLimiterTests {
    private let start = MonotonicTime(nanoseconds: 5_000_000_000)

    private func address(_ text: String) throws -> SocketAddress { try SocketAddress(ipAddress: text, port: 1) }

    private func account(_ text: String) throws -> UInt64 { try #require(PeerAddress(text)).account }

    @Test("a client is an IPv4 address or an IPv6 network; a local one may forward for others, and is a client itself")
    func clients() throws {
        let budget = RequestRateLimiter(HTTPLimits())
        let here = try account("127.0.0.1")
        #expect(budget.client(at: try address("127.0.0.1")) == .many(server: "127.0.0.1", itself: here))
        let house = RequestRateLimiter.Client.one(try account("2001:db8:0:1::"))
        #expect(budget.client(at: try address("192.0.2.7")) == .one(try account("192.0.2.7")))
        #expect(budget.client(at: try address("::ffff:192.0.2.7")) == .one(try account("192.0.2.7")))
        for one in ["2001:db8:0:1::1", "2001:db8:0:1:ffff:ffff:ffff:ffff"] {
            #expect(budget.client(at: try address(one)) == house, "\(one)")
        }
        #expect(budget.client(at: try address("2001:db8:0:2::1")) != house)
        let proxies = try #require(TrustedProxies(["192.0.2.7"]))
        let named = RequestRateLimiter(HTTPLimits(), proxies: proxies).client(at: try address("192.0.2.7"))
        #expect(named == .many(server: "192.0.2.7", itself: nil))
    }

    @Test("behind a proxy each client has its own limit, and clients cannot choose whose it is")
    func proxies() throws {
        let limits = HTTPLimits(requests: (perSecond: 0.001, burst: 3))
        let proxies = try #require(TrustedProxies(["198.51.100.0/24"]))
        let budget = RequestRateLimiter(limits, proxies: proxies)
        func taken(_ count: Int, by peer: String, for origin: String?) throws -> Int {
            var fields = HTTPFields()
            if let origin, let name = HTTPField.Name("X-Forwarded-For") { fields[name] = origin }
            let client = budget.client(at: try address(peer))
            return (0..<count).count { _ in budget.allowsRequest(from: client, fields, now: start) }
        }
        #expect(try taken(5, by: "198.51.100.1", for: "203.0.113.1") == 3)
        #expect(try taken(5, by: "198.51.100.2", for: "203.0.113.2") == 3)
        // With any forwarding field, and with forged entries.
        #expect(try taken(5, by: "127.0.0.1", for: "192.0.2.99, 203.0.113.1") == 0)
        #expect(try taken(5, by: "203.0.113.2", for: "192.0.2.1") == 0)
        #expect(try taken(2, by: "203.0.113.3", for: "192.0.2.1") == 2)
        #expect(try taken(2, by: "203.0.113.3", for: "192.0.2.2") == 1)
        // A local process that requests for itself is a client; a proxy named by the operator has no limit.
        #expect(try taken(5, by: "127.0.0.1", for: nil) == 3)
        #expect(try taken(5, by: "198.51.100.1", for: nil) == 5)
        #expect(budget.refused == 17)
    }

    /// Provides the sessions of one client.
    private final class Sessions: AudienceObserving {
        private let known = Mutex(ClientSessions())
        func makeSession(room: String) -> String { "" }
        func accepts(sid: String, room: String) -> Bool { false }
        func mayReturn(sid: String, room: String) -> Bool { false }
        func record(_ event: AudienceEvent) {}
        func sessions(of client: UInt64) -> ClientSessions { known.withLock { $0 } }
        func set(_ sessions: ClientSessions) { known.withLock { $0 = sessions } }
    }

    @Test(
        "admits 300 low-latency players behind one address for a minute, and limits a client without viewers"
    )
    func house() throws {
        let audience = Sessions()
        let budget = RequestRateLimiter(HTTPLimits(), audience: audience)
        let client = budget.client(at: try address("192.0.2.7"))
        func taken(_ count: Int, at now: MonotonicTime) -> Int {
            (0..<count).count { _ in budget.allowsRequest(from: client, HTTPFields(), now: now) }
        }
        // All join within three seconds, each with the multivariant playlist and the files for the first frame.
        var refused = 0
        for number in 0..<300 {
            let now = start.advanced(milliseconds: Int64(number) * 10)
            refused += 1 - taken(1, at: now)
            audience.set(ClientSessions(watching: 0, unproven: number + 1))
            refused += 15 - taken(15, at: now)
        }
        #expect(refused == 0)
        audience.set(ClientSessions(watching: 300, unproven: 0))
        for tenth in 0..<600 {
            let now = start.advanced(milliseconds: 4_000 + Int64(tenth) * 100)
            refused += 300 - taken(300, at: now)
        }
        #expect(refused == 0)
        // Without viewers.
        audience.set(ClientSessions())
        let other = budget.client(at: try address("192.0.2.8"))
        var answered = 0
        for tenth in 0..<100 {
            let now = start.advanced(milliseconds: 70_000 + Int64(tenth) * 100)
            answered += (0..<300).count { _ in budget.allowsRequest(from: other, HTTPFields(), now: now) }
        }
        #expect((1_150...1_250).contains(answered), "\(answered) in 10 s")
    }
}
