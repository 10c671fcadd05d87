import Egress
import Webhooks

/// Which addresses webhooks may be posted to: the rules of outputs, with the ports of the web.
struct WebhookGuard: Sendable {
    private let targets: TargetGuard

    init(allowsPrivateAddresses: Bool) {
        targets = TargetGuard(
            TargetPolicy(allowsPrivateAddresses: allowsPrivateAddresses, allowedPorts: [80, 443, 8080, 8443])
        )
    }

    /// Adds a port that this gateway listens on itself.
    func refuse(ownPort: UInt16) {
        targets.refuse(ownPort: ownPort)
    }

    func vet(_ host: String, port: UInt16, within seconds: Double) async -> VettedHost {
        do {
            return .addresses(try await targets.addresses(of: host, port: port, within: seconds))
        } catch {
            return error.code == .forbiddenAddress ? .forbidden : .notFound
        }
    }
}
