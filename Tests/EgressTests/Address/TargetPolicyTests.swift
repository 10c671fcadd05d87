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

@Suite("Hosts that others connect to under the rules of outputs", .timeLimit(.minutes(1)))
struct TargetResolverTests {
    private func code(_ guarded: TargetResolver, _ host: String, _ port: UInt16) async -> PushError.Code? {
        do {
            _ = try await guarded.addresses(of: host, port: port, within: 2)
            return nil
        } catch {
            return error.code
        }
    }

    @Test(
        "A host that leads to a private address is refused, by number and by name",
        arguments: [
            "127.0.0.1", "10.1.2.3", "169.254.169.254", "192.168.0.1", "::1", "::ffff:127.0.0.1", "localhost",
            "2130706433",
        ]
    )
    func privateHosts(host: String) async {
        #expect(await code(TargetResolver(TargetPolicy(allowedPorts: [443])), host, 443) == .forbiddenAddress)
    }

    @Test("A public address is given as numbers; another port, and a name without an address, are refused")
    func others() async throws {
        let guarded = TargetResolver(TargetPolicy(allowedPorts: [443]))
        #expect(try await guarded.addresses(of: "8.8.8.8", port: 443, within: 5) == ["8.8.8.8"])
        let long = "2606:4700:4700:0:0:0:0:1111"
        #expect(try await guarded.addresses(of: long, port: 443, within: 5) == ["2606:4700:4700::1111"])
        #expect(await code(guarded, "8.8.8.8", 25) == .forbiddenAddress)
        #expect(await code(guarded, "nowhere.invalid", 443) == .nameNotFound)
    }

    @Test("Where private addresses are allowed they are given, but never our own ports")
    func allowed() async throws {
        let guarded = TargetResolver(TargetPolicy(allowsPrivateAddresses: true))
        #expect(try await guarded.addresses(of: "127.0.0.1", port: 9999, within: 5) == ["127.0.0.1"])
        #expect(try await guarded.addresses(of: "localhost", port: 9999, within: 5).contains("127.0.0.1"))
        guarded.refuse(ownPort: 9999)
        #expect(await code(guarded, "127.0.0.1", 9999) == .forbiddenAddress)
    }
}
