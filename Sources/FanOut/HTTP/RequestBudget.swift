import Media
import NIOCore
import Synchronization

/// The request ledger that all connections of the HTTP port share.
final class RequestBudget: Sendable {
    private let isCounting: Bool
    private let ledger: Mutex<RequestLedger>
    private let sparesLoopback: Bool

    init(_ limits: HTTPLimits) {
        isCounting = limits.requests != nil
        let (perSecond, burst) = limits.requests ?? (0, 0)
        ledger = Mutex(RequestLedger(perSecond: perSecond, burst: burst))
        sparesLoopback = limits.sparesLoopback
    }

    /// The name under which a connection's requests are counted; nil when they are not.
    func account(of address: SocketAddress?) -> String? {
        guard isCounting, let host = address?.ipAddress else { return nil }
        let isLoopback = host.hasPrefix("127.") || host == "::1" || host.hasPrefix("::ffff:127.")
        return isLoopback && sparesLoopback ? nil : host
    }

    /// Whether one more request of the account is answered.
    func takesRequest(from account: String?, now: MonotonicTime) -> Bool {
        guard let account else { return true }
        return ledger.withLock { $0.takesRequest(from: account, now: now) }
    }
}
