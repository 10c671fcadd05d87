import HTTPTypes
import Stage
import Testing

@testable import FanOut

@Suite("Where a request that is passed on comes from")
struct PassedOnRequestTests {
    private func post(_ fields: [(String, String)]) throws -> HTTPRequest {
        var head = HTTPRequest(method: .post, scheme: "http", authority: "g", path: "/v1/cmcd")
        for (name, value) in fields { head.headerFields[try #require(HTTPField.Name(name))] = value }
        return head
    }

    private func address(_ head: HTTPRequest) throws -> String? {
        head.headerFields[try #require(HTTPField.Name(PlayerRequest.addressField))]
    }

    @Test("it says the connection's address, or what a trusted proxy says; what the client says itself is thrown away")
    func address() throws {
        let forged = [(PlayerRequest.addressField, "198.51.100.7"), ("X-Forwarded-For", "198.51.100.8")]
        let plain = PlayerReading()
        #expect(try address(plain.passingOn(try post(forged), peer: "192.0.2.1")) == "192.0.2.1")
        #expect(try address(plain.passingOn(try post(forged), peer: nil)) == nil)
        let proxies = try #require(TrustedProxies(["192.0.2.1"], regionHeader: "CF-IPCountry"))
        let trusting = PlayerReading(proxies: proxies)
        let proxied = trusting.passingOn(try post(forged + [("CF-IPCountry", "DE")]), peer: "192.0.2.1")
        #expect(try address(proxied) == "198.51.100.8")
        let region = try #require(HTTPField.Name(PlayerRequest.regionField))
        #expect(proxied.headerFields[region] == "DE")
        #expect(
            trusting.passingOn(try post([(PlayerRequest.regionField, "FR")]), peer: "192.0.2.9").headerFields[region]
                == nil
        )
    }
}
