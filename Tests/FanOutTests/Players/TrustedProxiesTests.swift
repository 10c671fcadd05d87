import HTTPTypes
import Stage
import Testing

@testable import FanOut

@Suite("Trusted proxies")
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

    @Test("uses the last untrusted address and the country from a trusted proxy, and nothing from others")
    func origins() throws {
        let proxies = try proxies(["127.0.0.1", "10.0.0.0/8", "fd00::/8"])
        let errorBody = fields("203.0.113.9, 198.51.100.7, 10.1.2.3", country: "DE")
        for peer in ["127.0.0.1", "10.200.0.1", "::ffff:10.0.0.1", "fd12::1"] {
            let origin = proxies.origin(of: errorBody, peer: peer)
            #expect(origin.address == "198.51.100.7" && origin.region == "DE", "\(peer)")
        }
        for peer in ["192.0.2.1", "11.0.0.1", "fe80::1"] {
            let origin = proxies.origin(of: errorBody, peer: peer)
            #expect(origin.address == peer && origin.region == nil, "\(peer)")
        }
        #expect(proxies.origin(of: fields(nil, country: "FR"), peer: "127.0.0.1").address == "127.0.0.1")
        #expect(proxies.origin(of: fields("10.0.0.1"), peer: "127.0.0.1").address == "10.0.0.1")
        #expect(proxies.origin(of: fields("nobody"), peer: "127.0.0.1").address == "127.0.0.1")
        #expect(proxies.origin(of: errorBody, peer: nil).address == nil)
        let plain = try self.proxies(["127.0.0.1"], header: nil).origin(of: errorBody, peer: "127.0.0.1")
        #expect(plain.address == "10.1.2.3" && plain.region == nil)
    }

    @Test("matches a network whose length is within a byte", arguments: ["172.16.0.0", "172.31.255.255"])
    func within(address: String) throws {
        let proxies = try proxies(["172.16.0.0/12"])
        #expect(proxies.origin(of: fields("192.0.2.1"), peer: address).address == "192.0.2.1")
        #expect(proxies.origin(of: fields("192.0.2.1"), peer: "172.32.0.0").address == "172.32.0.0")
    }

    @Test("trusts an unnamed proxy on this machine with either field, and no unnamed one elsewhere")
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

    @Test("rejects invalid networks", arguments: ["", "10.0.0.0/33", "10.0.0/8", "::/129", "host", "1.2.3.4/x"])
    func refused(text: String) {
        #expect(TrustedProxies([text]) == nil)
    }

    @Test("an account is an address or an IPv6 network, named by trusted proxies only")
    func accounts() throws {
        let proxies = try proxies(["127.0.0.1"])
        #expect(proxies.account(of: fields("203.0.113.9, 192.0.2.4"), peer: "127.0.0.1") == "192.0.2.4")
        #expect(proxies.account(of: fields("192.0.2.4, 2001:db8::a:1"), peer: "127.0.0.1") == "2001:db8:0:0::/64")
        #expect(proxies.account(of: fields("192.0.2.4"), peer: "2001:db8::7") == "2001:db8:0:0::/64")
        #expect(proxies.account(of: fields("192.0.2.4"), peer: "::ffff:198.51.100.2") == "198.51.100.2")
        #expect(proxies.account(of: fields("192.0.2.4"), peer: nil) == nil)
    }

    @Test("all media is seen here, except behind proxies that may have a cache")
    func media() throws {
        let proxies = try proxies(["10.0.0.0/8"])
        let (plain, errorBody) = (fields(nil), fields("192.0.2.4"))
        let requests = [
            ("192.0.2.1", plain, true), ("192.0.2.1", errorBody, true), ("127.0.0.1", plain, true),
            ("127.0.0.1", errorBody, false), ("10.1.2.3", plain, false), ("10.1.2.3", errorBody, false),
        ]
        for (peer, fields, isSeen) in requests {
            #expect(proxies.seesAllMedia(of: fields, peer: peer) == isSeen, "\(peer) \(fields)")
        }
        proxies.cacheMedia = false
        for (peer, fields, _) in requests { #expect(proxies.seesAllMedia(of: fields, peer: peer), "\(peer) \(fields)") }
        #expect(!proxies.seesAllMedia(of: plain, peer: nil))
    }

    @Test("trusted proxies and this machine may report")
    func reports() throws {
        let proxies = try proxies(["10.0.0.0/8"])
        for address in ["127.0.0.1", "::1", "::ffff:127.0.0.1", "10.9.8.7"] {
            #expect(proxies.mayReport(from: address), "\(address)")
        }
        for address in ["192.0.2.1", "::ffff:192.0.2.1", "2001:db8::1", "::", "nobody"] {
            #expect(!proxies.mayReport(from: address) && !TrustedProxies().mayReport(from: address), "\(address)")
        }
    }

    @Test("rejects an invalid header name")
    func header() {
        #expect(TrustedProxies(["127.0.0.1"], regionHeader: "not a name") == nil)
    }
}

@Suite("Forwarded requests")
struct ForwardedRequestTests {
    private func post(_ fields: [(String, String)], to path: String = "/v1/cmcd") throws -> HTTPRequest {
        var head = HTTPRequest(method: .post, scheme: "http", authority: "g", path: path)
        for (name, value) in fields { head.headerFields[try #require(HTTPField.Name(name))] = value }
        return head
    }

    private func address(_ head: HTTPRequest) -> String? { ClientTrustPolicy.reporter(head.headerFields).address }

    @Test("carry the connection's address or a trusted proxy's entry; the client's own fields are removed")
    func address() throws {
        let own = HTTPField.Name.playerAddress.rawName
        let forged = [(own, "198.51.100.7"), ("X-Forwarded-For", "198.51.100.8")]
        let plain = ClientTrustPolicy()
        // In every spelling of the path that reaches the same route.
        for path in ["/v1/cmcd", "/v1/cmcd?room=show", "//v1//cmcd/", "/v1/cmcd?\u{301}"] {
            let passed = plain.forwarding(try post(forged, to: path), peer: "192.0.2.1")
            #expect(address(passed) == "192.0.2.1", "\(path)")
        }
        let unknown = plain.forwarding(try post(forged), peer: nil)
        #expect(address(unknown) == nil)
        let proxies = try #require(TrustedProxies(["192.0.2.1"], regionHeader: "CF-IPCountry"))
        let trusting = ClientTrustPolicy(proxies: proxies)
        let proxied = trusting.forwarding(try post(forged + [("CF-IPCountry", "DE")]), peer: "192.0.2.1")
        #expect(address(proxied) == "198.51.100.8" && ClientTrustPolicy.reporter(proxied.headerFields).region == "DE")
        let region = HTTPField.Name.playerRegion.rawName
        let other = trusting.forwarding(try post([(region, "FR"), ("User-Agent", "p")]), peer: "192.0.2.9")
        let reporter = ClientTrustPolicy.reporter(other.headerFields)
        #expect(reporter.region == nil && reporter.userAgent == "p")
    }

    @Test("carry the rate-limited client, whatever the client sends")
    func client() throws {
        let forged = try post([("X-Footlight-Client", "7")], to: "/v1/rooms")
        let trust = ClientTrustPolicy()
        #expect(ClientTrustPolicy.client(trust.forwarding(forged, peer: "192.0.2.1", client: 5).headerFields) == 5)
        #expect(ClientTrustPolicy.client(trust.forwarding(forged, peer: "192.0.2.1").headerFields) == nil)
    }

    @Test("are unchanged if they are no reports")
    func others() throws {
        let other = try post([("X-Forwarded-For", "198.51.100.8")], to: "/v1/rooms")
        #expect(ClientTrustPolicy().forwarding(other, peer: "192.0.2.1") == other)
    }
}
