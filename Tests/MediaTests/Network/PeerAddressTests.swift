import Media
import Testing

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
