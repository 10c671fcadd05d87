import Egress
import Testing

@Suite("Hosts that others connect to under the rules of outputs", .timeLimit(.minutes(1)))
struct TargetGuardTests {
    private func code(_ guarded: TargetGuard, _ host: String, _ port: UInt16) async -> PushError.Code? {
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
        #expect(await code(TargetGuard(TargetPolicy(allowedPorts: [443])), host, 443) == .forbiddenAddress)
    }

    @Test("A public address is given as numbers; another port, and a name without an address, are refused")
    func others() async throws {
        let guarded = TargetGuard(TargetPolicy(allowedPorts: [443]))
        #expect(try await guarded.addresses(of: "8.8.8.8", port: 443, within: 5) == ["8.8.8.8"])
        let long = "2606:4700:4700:0:0:0:0:1111"
        #expect(try await guarded.addresses(of: long, port: 443, within: 5) == ["2606:4700:4700::1111"])
        #expect(await code(guarded, "8.8.8.8", 25) == .forbiddenAddress)
        #expect(await code(guarded, "nowhere.invalid", 443) == .nameNotFound)
    }

    @Test("Where private addresses are allowed they are given, but never our own ports")
    func allowed() async throws {
        let guarded = TargetGuard(TargetPolicy(allowsPrivateAddresses: true))
        #expect(try await guarded.addresses(of: "127.0.0.1", port: 9999, within: 5) == ["127.0.0.1"])
        #expect(try await guarded.addresses(of: "localhost", port: 9999, within: 5).contains("127.0.0.1"))
        guarded.refuse(ownPort: 9999)
        #expect(await code(guarded, "127.0.0.1", 9999) == .forbiddenAddress)
    }
}
