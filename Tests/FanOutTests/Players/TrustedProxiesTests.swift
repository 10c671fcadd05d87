@testable import FanOut
import HTTPTypes
import Testing

@Suite("Servers in front that are believed")
struct TrustedProxiesTests {
    private func fields(_ forwarded: String?, country: String? = nil) -> HTTPFields {
        var fields = HTTPFields()
        if let forwarded, let name = HTTPField.Name("X-Forwarded-For") { fields[name] = forwarded }
        if let country, let name = HTTPField.Name("CF-IPCountry") { fields[name] = country }
        return fields
    }

    private func proxies(_ networks: [String], header: String? = "CF-IPCountry") throws -> TrustedProxies {
        try #require(TrustedProxies(networks, regionHeader: header))
    }

    @Test("From a trusted server the last address that is none of theirs, and the country; from nobody else anything")
    func origins() throws {
        let proxies = try proxies(["127.0.0.1", "10.0.0.0/8", "fd00::/8"])
        let said = fields("203.0.113.9, 198.51.100.7, 10.1.2.3", country: "DE")
        for peer in ["127.0.0.1", "10.200.0.1", "::ffff:10.0.0.1", "fd12::1"] {
            let origin = proxies.origin(of: said, peer: peer)
            #expect(origin.address == "198.51.100.7" && origin.region == "DE", "\(peer)")
        }
        for peer in ["192.0.2.1", "11.0.0.1", "fe80::1"] {
            let origin = proxies.origin(of: said, peer: peer)
            #expect(origin.address == peer && origin.region == nil, "\(peer)")
        }
        #expect(proxies.origin(of: fields(nil, country: "FR"), peer: "127.0.0.1").address == "127.0.0.1")
        #expect(proxies.origin(of: fields("10.0.0.1"), peer: "127.0.0.1").address == "10.0.0.1")
        #expect(proxies.origin(of: fields("nobody"), peer: "127.0.0.1").address == "127.0.0.1")
        #expect(proxies.origin(of: said, peer: nil).address == nil)
        let plain = try self.proxies(["127.0.0.1"], header: nil).origin(of: said, peer: "127.0.0.1")
        #expect(plain.address == "10.1.2.3" && plain.region == nil)
    }

    @Test("A network whose length is within a byte", arguments: ["172.16.0.0", "172.31.255.255"])
    func within(address: String) throws {
        let proxies = try proxies(["172.16.0.0/12"])
        #expect(proxies.origin(of: fields("192.0.2.1"), peer: address).address == "192.0.2.1")
        #expect(proxies.origin(of: fields("192.0.2.1"), peer: "172.32.0.0").address == "172.32.0.0")
    }

    @Test("A proxy on this machine is believed without being named, by either field; elsewhere nobody is")
    func loopback() throws {
        let proxies = TrustedProxies()
        for peer in ["127.0.0.1", "127.0.0.2", "::1", "::ffff:127.0.0.1"] {
            #expect(proxies.origin(of: fields("203.0.113.9, 192.0.2.4"), peer: peer).address == "192.0.2.4", "\(peer)")
            #expect(proxies.origin(of: fields("192.0.2.4, 127.0.0.1"), peer: peer).address == "192.0.2.4", "\(peer)")
            #expect(proxies.origin(of: fields(nil), peer: peer).address == peer)
        }
        #expect(proxies.origin(of: fields("203.0.113.9"), peer: "192.0.2.1").address == "192.0.2.1")
        let name = try #require(HTTPField.Name("Forwarded"))
        for (text, address) in [
            ("for=192.0.2.4", "192.0.2.4"), ("for=203.0.113.9, For=\"192.0.2.4:47011\";proto=https", "192.0.2.4"),
            ("proto=http;for=\"[2001:db8:cafe::17]:4711\"", "2001:db8:cafe::17"), ("for=unknown", "127.0.0.1"),
            ("by=192.0.2.9", "127.0.0.1"),
        ] {
            #expect(proxies.origin(of: [name: text], peer: "127.0.0.1").address == address, "\(text)")
        }
    }

    @Test("What is no network is refused", arguments: ["", "10.0.0.0/33", "10.0.0/8", "::/129", "host", "1.2.3.4/x"])
    func refused(text: String) {
        #expect(TrustedProxies([text]) == nil)
    }

    @Test("A client is an address, or a house of IPv6, and is named by the trusted alone")
    func accounts() throws {
        let proxies = try proxies(["127.0.0.1"])
        #expect(proxies.account(of: fields("203.0.113.9, 192.0.2.4"), peer: "127.0.0.1") == "192.0.2.4")
        #expect(proxies.account(of: fields("192.0.2.4, 2001:db8::a:1"), peer: "127.0.0.1") == "2001:db8:0:0::/64")
        #expect(proxies.account(of: fields("192.0.2.4"), peer: "2001:db8::7") == "2001:db8:0:0::/64")
        #expect(proxies.account(of: fields("192.0.2.4"), peer: "::ffff:198.51.100.2") == "198.51.100.2")
        #expect(proxies.account(of: fields("192.0.2.4"), peer: nil) == nil)
    }

    @Test("All that a player asks for is seen here, but through servers in front that may answer media from a cache")
    func media() throws {
        var proxies = try proxies(["10.0.0.0/8"])
        let (plain, said) = (fields(nil), fields("192.0.2.4"))
        let requests = [
            ("192.0.2.1", plain, true), ("192.0.2.1", said, true), ("127.0.0.1", plain, true),
            ("127.0.0.1", said, false), ("10.1.2.3", plain, false), ("10.1.2.3", said, false),
        ]
        for (peer, fields, isSeen) in requests {
            #expect(proxies.showMedia(of: fields, peer: peer) == isSeen, "\(peer) \(fields)")
        }
        proxies.cacheMedia = false
        for (peer, fields, _) in requests { #expect(proxies.showMedia(of: fields, peer: peer), "\(peer) \(fields)") }
        #expect(!proxies.showMedia(of: plain, peer: nil))
    }

    @Test("Who may report: the trusted, and this machine")
    func reports() throws {
        let proxies = try proxies(["10.0.0.0/8"])
        for address in ["127.0.0.1", "::1", "::ffff:127.0.0.1", "10.9.8.7"] {
            #expect(proxies.mayReport(from: address), "\(address)")
        }
        for address in ["192.0.2.1", "::ffff:192.0.2.1", "2001:db8::1", "::", "nobody"] {
            #expect(!proxies.mayReport(from: address) && !TrustedProxies().mayReport(from: address), "\(address)")
        }
    }

    @Test("What is no name of a field is refused")
    func header() {
        #expect(TrustedProxies(["127.0.0.1"], regionHeader: "not a name") == nil)
    }
}
