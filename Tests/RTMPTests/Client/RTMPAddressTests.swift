import Testing

@testable import RTMP

@Suite("RTMP addresses")
struct RTMPAddressTests {
    @Test("host, port, application, name and query are told apart")
    func parts() throws {
        let address = try #require(RTMPAddress("rtmp://example.org:1936/live/a/room?token=a/b?c"))
        #expect(address.host == "example.org")
        #expect(address.port == 1936)
        #expect(address.app == "live/a")
        #expect(address.name == "room?token=a/b?c")
        #expect(address.tcURL == "rtmp://example.org:1936/live/a")
        #expect(RTMPAddress("rtmp://[::1]/live/room")?.host == "::1")
        #expect(RTMPAddress("rtmp://h/live/room")?.port == 1935)
        #expect(!address.isSecure)
    }

    @Test("rtmps is the same by TLS, on another port where none is named")
    func secure() throws {
        let address = try #require(RTMPAddress("rtmps://example.org/live/room"))
        #expect(address.isSecure && address.port == 443)
        #expect(address.tcURL == "rtmps://example.org/live")
        #expect(RTMPAddress("RTMPS://h:8443/live/room")?.port == 8443)
    }

    @Test(
        "what is no such address is not taken",
        arguments: [
            "", "http://h/a/b", "rtmp://", "rtmp://h", "rtmp://h/live", "rtmp://:1/a/b", "rtmp://h:0/a/b",
            "rtmp://h:x/a/b",
        ]
    )
    func bad(url: String) {
        #expect(RTMPAddress(url) == nil)
    }
}
