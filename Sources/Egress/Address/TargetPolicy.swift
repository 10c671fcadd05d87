/// Which targets this machine may push to.
///
/// Operators name targets, so a target could be used to reach what only this machine reaches. By default every address
/// a host resolves to must be global and the port one that RTMP services use. The check is made again on each connect,
/// and the connection goes to the address that was checked, never to a name resolved a second time. Link-local addresses
/// and a few others, at which clouds offer a machine's own credentials, are never targets.
public struct TargetPolicy: Sendable, Equatable {
    /// Loopback, private and other local addresses except link-local ones may be targets, on any port.
    public var allowsPrivateAddresses: Bool
    /// The ports of targets; holds only while private addresses are not allowed.
    public var allowedPorts: Set<UInt16>
    /// Ports this process itself listens on: never a target on any address of this machine, whatever else is allowed.
    ///
    /// A program pushed back in would be pushed out again without end.
    public var ownPorts: Set<UInt16>

    /// Makes one from its parts.
    public init(
        allowsPrivateAddresses: Bool = false,
        allowedPorts: Set<UInt16> = [1935, 1936, 443],
        ownPorts: Set<UInt16> = []
    ) {
        self.allowsPrivateAddresses = allowsPrivateAddresses
        self.allowedPorts = allowedPorts
        self.ownPorts = ownPorts
    }

    /// The same rules for targets that are named by somebody who is no operator: public addresses, whatever is allowed.
    public var withoutPrivateAddresses: TargetPolicy {
        var policy = self
        policy.allowsPrivateAddresses = false
        return policy
    }

    /// Whether one address may be connected to.
    func vets(_ address: NetworkAddress) -> Bool {
        guard !address.isLinkLocal, !address.isMetadataService else { return false }
        return allowsPrivateAddresses || (address.isGlobal && allowedPorts.contains(address.port))
    }

    /// Refuses an address that no resolution could make acceptable: a forbidden port or literal address.
    func check(_ address: PushAddress) throws(PushError) {
        guard allowsPrivateAddresses || allowedPorts.contains(address.port) else {
            throw PushError(.forbiddenAddress, "port \(address.port) is not allowed for outputs")
        }
        guard let literal = NetworkAddress(literal: address.host, port: address.port) else { return }
        try check([literal], of: address.host)
    }

    /// Refuses a host when any one of its addresses is forbidden: a mixed answer is how a guard is walked around.
    func check(_ addresses: [NetworkAddress], of host: String) throws(PushError) {
        guard !addresses.isEmpty else { throw PushError(.nameNotFound, "\(host) has no address") }
        for address in addresses where !vets(address) {
            throw PushError(.forbiddenAddress, "\(host) leads to \(address), which is not a public address")
        }
        for address in addresses where ownPorts.contains(address.port) && address.isOfThisMachine {
            throw PushError(.forbiddenAddress, "\(host) leads to \(address), which is this gateway itself")
        }
    }
}
