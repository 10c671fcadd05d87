import Testing

@testable import Egress

@Suite("Targets that only this machine could reach are refused")
struct TargetPolicyTests {
    @Test(
        "addresses that are not global",
        arguments: [
            "0.0.0.0", "10.1.2.3", "100.64.0.1", "127.0.0.1", "172.16.0.1", "172.31.255.255",
            "192.0.0.8", "192.168.1.1", "198.18.0.1", "224.0.0.1", "255.255.255.255", "::", "::1", "::ffff:8.8.8.8",
            "64:ff9b::808:808", "2002:808:808::1", "fc00::1", "fd12::1", "ff02::1", "2001:db8::1", "2001::1",
        ]
    )
    func refused(literal: String) throws {
        let address = try #require(NetworkAddress(literal: literal, port: 1935))
        #expect(!TargetPolicy().vets(address))
        #expect(TargetPolicy(allowsPrivateAddresses: true).vets(address))
    }

    @Test(
        "link-local addresses are never targets, in whatever they are wrapped, even where private addresses are",
        arguments: [
            "169.254.169.254", "169.254.0.1", "fe80::1", "febf::1", "::ffff:169.254.169.254", "::169.254.169.254",
            "64:ff9b::169.254.169.254", "64:ff9b:1::169.254.169.254", "2002:a9fe:a9fe::1",
        ]
    )
    func linkLocal(literal: String) throws {
        let address = try #require(NetworkAddress(literal: literal, port: 80))
        #expect(!TargetPolicy(allowsPrivateAddresses: true).vets(address))
        #expect(!TargetPolicy(allowedPorts: [80]).vets(address))
    }

    @Test(
        "addresses at which clouds offer credentials are never targets, public or not",
        arguments: [
            "168.63.129.16", "::ffff:168.63.129.16", "100.100.100.200", "192.0.0.192", "fd00:ec2::254",
        ]
    )
    func metadata(literal: String) throws {
        let address = try #require(NetworkAddress(literal: literal, port: 80))
        #expect(!TargetPolicy(allowsPrivateAddresses: true).vets(address))
        #expect(!TargetPolicy(allowedPorts: [80]).vets(address))
    }

    @Test(
        "addresses that are global",
        arguments: ["8.8.8.8", "100.128.0.1", "172.32.0.1", "193.0.0.1", "2a00:1450::1", "2600::1"]
    )
    func accepted(literal: String) throws {
        let address = try #require(NetworkAddress(literal: literal, port: 1935))
        #expect(TargetPolicy().vets(address))
    }

    @Test(
        "this gateway's own listeners are no target, even where private addresses are",
        arguments: ["127.0.0.1", "127.8.9.10", "0.0.0.0", "::1", "::", "::ffff:127.0.0.1"]
    )
    func own(literal: String) throws {
        let policy = TargetPolicy(allowsPrivateAddresses: true, ownPorts: [1935, 8080])
        for port: UInt16 in [1935, 8080] {
            let address = try #require(NetworkAddress(literal: literal, port: port))
            #expect(throws: PushError.self) { try policy.check([address], of: "host") }
        }
        let other = try #require(NetworkAddress(literal: literal, port: 1936))
        try policy.check([other], of: "host")
        let neighbour = try #require(NetworkAddress(literal: "10.99.98.97", port: 1935))
        try policy.check([neighbour], of: "host")
    }

    @Test("an address of one of the machine's interfaces with an own port is refused before any connection")
    func ownInterface() throws {
        let policy = TargetPolicy(allowsPrivateAddresses: true, ownPorts: [1935])
        #expect(throws: PushError.self) {
            try policy.check(try PushAddress(url: "rtmp://127.0.0.1/live", streamKey: "key"))
        }
        try policy.check(try PushAddress(url: "rtmp://127.0.0.1:1936/live", streamKey: "key"))
        for literal in Interfaces.addresses {
            let address = try #require(NetworkAddress(literal: literal, port: 1935))
            #expect(throws: PushError.self) { try policy.check([address], of: "host") }
        }
    }

    @Test("one forbidden address among others spoils a host, and so does a forbidden port")
    func mixed() throws {
        let good = NetworkAddress(ipv4: (8, 8, 8, 8), port: 1935)
        let bad = NetworkAddress(ipv4: (10, 0, 0, 1), port: 1935)
        try TargetPolicy().check([good], of: "host")
        #expect(throws: PushError.self) { try TargetPolicy().check([good, bad], of: "host") }
        let odd = try PushAddress(url: "rtmp://example.com:22/live", streamKey: "key")
        #expect(throws: PushError.self) { try TargetPolicy().check(odd) }
        try TargetPolicy(allowsPrivateAddresses: true).check(odd)
        let metadata = try PushAddress(url: "rtmp://169.254.169.254/live", streamKey: "key")
        #expect(throws: PushError.self) { try TargetPolicy().check(metadata) }
    }
}
