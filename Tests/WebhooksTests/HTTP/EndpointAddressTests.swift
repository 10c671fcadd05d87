import OutboundHTTP
import Testing

@testable import Webhooks

@Suite("Endpoint address")
struct EndpointAddressTests {
    @Test("parses host, port, path and query")
    func parts() throws {
        let plain = try EndpointAddress("https://hooks.example/in?key=1", allowsPlainHTTP: false)
        #expect(plain.target == OutboundTarget(isSecure: true, host: "hooks.example", port: 443, path: "/in?key=1"))
        #expect(plain.target.authority == "hooks.example")
        #expect(plain.masked == "https://hooks.example/****" && "\(plain)" == plain.masked)
        let odd = try EndpointAddress("HTTP://[2001:db8::1]:8080", allowsPlainHTTP: true)
        #expect(odd.target == OutboundTarget(isSecure: false, host: "2001:db8::1", port: 8080, path: "/"))
        #expect(odd.target.authority == "[2001:db8::1]:8080")
        let bare = try EndpointAddress("https://192.0.2.7?x", allowsPlainHTTP: false)
        #expect(bare.target.path == "/?x")
    }

    @Test(
        "rejects invalid addresses",
        arguments: [
            "", "hooks.example", "ftp://hooks.example", "http://hooks.example", "https://", "https:///in",
            "https://user:word@hooks.example", "https://a.example/#part", "https://a.example\\@b.example",
            "https://a.example:0", "https://a.example:65536", "https://a.example:x", "https://a..example",
            "https://[::1", "https://[name]", "https://a b.example", "https://a.example/\r\nx: y", "https://ä.example",
            "https://" + String(repeating: "a", count: 64) + ".example",
            "https://a.example/" + String(repeating: "a", count: 2048),
        ]
    )
    func refused(text: String) {
        #expect(throws: WebhookFault.self) { try EndpointAddress(text, allowsPlainHTTP: false) }
    }
}
