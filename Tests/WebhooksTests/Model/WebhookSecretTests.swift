import Testing

@testable import Webhooks

@Suite("Webhook secrets and signatures")
struct WebhookSecretTests {
    @Test("signs the published test vector of Standard Webhooks")
    func vector() throws {
        let secret = try #require(WebhookSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"))
        let signature = secret.sign(
            id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
            timestamp: 1_614_265_330,
            body: Array(#"{"test": 2432232314}"#.utf8)
        )
        #expect(signature == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
    }

    @Test("a new secret has 32 random bytes, can be parsed, and is masked in output")
    func fresh() throws {
        let secret = WebhookSecret()
        #expect(secret != WebhookSecret() && secret.text.hasPrefix("whsec_"))
        #expect(WebhookSecret(secret.text) == secret)
        #expect(secret.masked == "whsec_****" + secret.text.suffix(4))
        #expect("\(secret)" == secret.masked && String(reflecting: secret) == secret.masked)
        var dumped = ""
        dump(secret, to: &dumped)
        #expect(!dumped.contains(secret.text.dropFirst(6)))
    }

    @Test(
        "rejects invalid secrets",
        arguments: [
            "", "whsec_", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_MfKQ", "whsec_???",
            "whsec_" + String(repeating: "AAAA", count: 22),
        ]
    )
    func refused(text: String) {
        #expect(WebhookSecret(text) == nil)
    }

    @Test("both secrets sign after a rotation until the former one expires")
    func rotation() throws {
        let (old, new) = (WebhookSecret(), WebhookSecret())
        var endpoint = WebhookEndpoint(
            id: "WH1",
            address: try EndpointAddress("https://a.example", allowsPlainHTTP: false),
            text: "",
            filter: EventFilter(),
            secret: new,
            createdAt: 0,
            updatedAt: 0
        )
        endpoint.former = .init(secret: old, until: 100)
        let body = Array("{}".utf8)
        let both = endpoint.signatures(id: "m", at: 99.9, body: body).split(separator: " ").map(String.init)
        #expect(both == [new, old].map { $0.sign(id: "m", timestamp: 99, body: body) })
        #expect(endpoint.signatures(id: "m", at: 100, body: body) == new.sign(id: "m", timestamp: 100, body: body))
    }
}
