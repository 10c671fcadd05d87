import Media
import Synchronization

/// The rules for which addresses the gateway may push to.
///
/// Operators name targets, so a target could be used to reach hosts that only this machine can reach. By default every
/// address of a host must be global and the port one of the usual RTMP ports. The check runs again on each connect, and
/// the connection goes to the checked address, never to a name resolved a second time. Link-local addresses and cloud
/// metadata services are never targets.
public struct TargetPolicy: Sendable, Equatable {
    /// Whether loopback, private and other local addresses except link-local ones are allowed, on any port.
    public var allowsPrivateAddresses: Bool
    /// The allowed ports; ignored while private addresses are allowed.
    public var allowedPorts: Set<UInt16>
    /// Ports that this process listens on: never a target on any address of this machine, whatever else is allowed.
    ///
    /// A program pushed to its own gateway would be pushed again without end.
    public var ownPorts: Set<UInt16>

    /// Makes a policy from its parts.
    public init(
        allowsPrivateAddresses: Bool = false,
        allowedPorts: Set<UInt16> = [1935, 1936, 443],
        ownPorts: Set<UInt16> = []
    ) {
        self.allowsPrivateAddresses = allowsPrivateAddresses
        self.allowedPorts = allowedPorts
        self.ownPorts = ownPorts
    }

    /// The same policy without private addresses, for targets that are not named by an operator.
    public var withoutPrivateAddresses: TargetPolicy {
        var policy = self
        policy.allowsPrivateAddresses = false
        return policy
    }

    /// Whether the policy allows a connection to one address.
    func vets(_ address: NetworkAddress) -> Bool {
        guard !address.isLinkLocal, !address.isMetadataService else { return false }
        return allowsPrivateAddresses || (address.isGlobal && allowedPorts.contains(address.port))
    }

    /// Refuses an address without resolving it: a forbidden port or literal address.
    func check(_ address: PushAddress) throws(PushError) {
        guard allowsPrivateAddresses || allowedPorts.contains(address.port) else {
            throw PushError(.forbiddenAddress, "port \(address.port) is not allowed for outputs")
        }
        guard let literal = NetworkAddress(literal: address.host, port: address.port) else { return }
        try check([literal], of: address.host)
    }

    /// Refuses a host when any of its addresses is forbidden, since a mixed answer may be an attempt at evasion.
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

/// Resolves hosts under a `TargetPolicy` for code that makes its own connections.
///
/// The caller must connect to one of the returned addresses: a name resolved a second time may lead elsewhere.
public final class TargetResolver: Sendable {
    private let policy: Mutex<TargetPolicy>

    /// Makes a resolver with a policy.
    public init(_ policy: TargetPolicy) {
        self.policy = Mutex(policy)
    }

    /// Adds a port that this process listens on, so that no result leads to it.
    public func refuse(ownPort: UInt16) {
        policy.withLock { _ = $0.ownPorts.insert(ownPort) }
    }

    /// Changes whether private and loopback addresses are allowed, for later lookups.
    public func setAllowsPrivateAddresses(_ isAllowed: Bool) {
        policy.withLock { $0.allowsPrivateAddresses = isAllowed }
    }

    /// Resolves a host to numeric addresses, all of which are allowed at `port`.
    ///
    /// Each lookup runs on its own thread, so that a slow one does not delay the others.
    ///
    /// - Parameter seconds: The timeout of the lookup.
    /// - Throws: `forbiddenAddress` when any address is forbidden, `nameNotFound` without an address or on timeout.
    public func addresses(of host: String, port: UInt16, within seconds: Double) async throws(PushError) -> [String] {
        let policy = policy.withLock { $0 }
        guard policy.allowsPrivateAddresses || policy.allowedPorts.contains(port) else {
            throw PushError(.forbiddenAddress, "port \(port) is not allowed")
        }
        let result: Result<[String], PushError> = await withCheckedContinuation { answer in
            let thread = WorkerThread(name: "look-up", stackSize: WorkerThread.smallStack) {
                answer.resume(returning: Self.resolve(host, port: port, within: seconds, policy))
            }
            if !thread.hasStarted {
                answer.resume(returning: .failure(PushError(.local, "no thread to resolve \(host)")))
            }
        }
        return try result.get()
    }

    private static func resolve(
        _ host: String,
        port: UInt16,
        within seconds: Double,
        _ policy: TargetPolicy
    ) -> Result<[String], PushError> {
        do throws(PushError) {
            let deadline = MonotonicTime.now().advanced(seconds: seconds)
            let found = try NameResolver().resolve(host, port: port, deadline: deadline)
            try policy.check(found, of: host)
            return .success(found.map(\.literal))
        } catch {
            return .failure(error)
        }
    }
}
