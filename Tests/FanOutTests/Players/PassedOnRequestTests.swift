import HTTPTypes
import Stage
import Testing

@testable import FanOut

@Suite("Where a request that is passed on comes from")
struct PassedOnRequestTests {
    private func post(_ fields: [(String, String)], to path: String = "/v1/cmcd") throws -> HTTPRequest {
        var head = HTTPRequest(method: .post, scheme: "http", authority: "g", path: path)
        for (name, value) in fields { head.headerFields[try #require(HTTPField.Name(name))] = value }
        return head
    }

    private func address(_ head: HTTPRequest) -> String? { PlayerReading.reporter(head.headerFields).address }

    @Test("it says the connection's address, or what a trusted proxy says; what the client says itself is thrown away")
    func address() throws {
        let own = HTTPField.Name.playerAddress.rawName
        let forged = [(own, "198.51.100.7"), ("X-Forwarded-For", "198.51.100.8")]
        let plain = PlayerReading()
        // In whatever way its path is written that leads to the same place.
        for path in ["/v1/cmcd", "/v1/cmcd?room=show", "//v1//cmcd/", "/v1/cmcd?\u{301}"] {
            let passed = plain.passingOn(try post(forged, to: path), peer: "192.0.2.1")
            #expect(address(passed) == "192.0.2.1", "\(path)")
        }
        let unknown = plain.passingOn(try post(forged), peer: nil)
        #expect(address(unknown) == nil)
        let proxies = try #require(TrustedProxies(["192.0.2.1"], regionHeader: "CF-IPCountry"))
        let trusting = PlayerReading(proxies: proxies)
        let proxied = trusting.passingOn(try post(forged + [("CF-IPCountry", "DE")]), peer: "192.0.2.1")
        #expect(address(proxied) == "198.51.100.8" && PlayerReading.reporter(proxied.headerFields).region == "DE")
        let region = HTTPField.Name.playerRegion.rawName
        let other = trusting.passingOn(try post([(region, "FR"), ("User-Agent", "p")]), peer: "192.0.2.9")
        let reporter = PlayerReading.reporter(other.headerFields)
        #expect(reporter.region == nil && reporter.userAgent == "p")
    }

    @Test("it says whose limits hold for it, whatever the client says of that itself")
    func client() throws {
        let forged = try post([("X-Footlight-Client", "7")], to: "/v1/rooms")
        let reading = PlayerReading()
        #expect(PlayerReading.client(reading.passingOn(forged, peer: "192.0.2.1", client: 5).headerFields) == 5)
        #expect(PlayerReading.client(reading.passingOn(forged, peer: "192.0.2.1").headerFields) == nil)
    }

    @Test("what is no report is passed on as it is")
    func others() throws {
        let other = try post([("X-Forwarded-For", "198.51.100.8")], to: "/v1/rooms")
        #expect(PlayerReading().passingOn(other, peer: "192.0.2.1") == other)
    }
}
