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
        let noOne = ClientLimiter(limit: 1)
        #expect((0..<10).compactMap { _ in noOne.enter(nil) }.count == 10)
    }
}

@Suite("The address at the other end")
struct PeerAddressTests {
    @Test("A client's name is its IPv4 address in whatever form, and of IPv6 its network; what is no address stays")
    func names() {
        #expect(PeerAddress.accountName(of: "192.0.2.1") == "192.0.2.1")
        #expect(PeerAddress.accountName(of: "::ffff:192.0.2.1") == "192.0.2.1")
        for address in ["2001:db8:0:1:2:3:4:5", "2001:db8:0:1::", "2001:DB8::1:ffff:0:0:1"] {
            #expect(PeerAddress.accountName(of: address) == "2001:db8:0:1::/64", "\(address)")
        }
        #expect(PeerAddress.accountName(of: "2001:db8:0:2::1") == "2001:db8:0:2::/64")
        for text in ["", "unix:/run/s", "192.0.2", "192.0.2.1:80"] {
            #expect(PeerAddress.accountName(of: text) == text)
        }
    }
}
