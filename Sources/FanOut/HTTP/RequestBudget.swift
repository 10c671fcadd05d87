import HTTPTypes
import Media
import NIOCore
import Stage
import Synchronization

/// The request ledger that all connections of the HTTP port share.
final class RequestBudget: Sendable {
    /// From whom the requests of a connection come.
    enum Client: Equatable {
        /// Nobody counts them.
        case spared
        /// All from one, under that name.
        case one(String)
        /// From many: the server at that address says of each request whose it is.
        case many(server: String)
    }

    private let isCounting: Bool
    private let ledger: Mutex<RequestLedger>
    private let sparesLoopback: Bool
    private let proxies: TrustedProxies
    private let refusals = Atomic<UInt64>(0)

    /// Requests that were one too many.
    var refused: UInt64 { refusals.load(ordering: .relaxed) }

    /// - Parameter proxies: The servers in front that say where a request comes from.
    init(_ limits: HTTPLimits, proxies: TrustedProxies = TrustedProxies()) {
        isCounting = limits.requests != nil
        let (perSecond, burst) = limits.requests ?? (0, 0)
        ledger = Mutex(RequestLedger(perSecond: perSecond, burst: burst))
        sparesLoopback = limits.sparesLoopback
        self.proxies = proxies
    }

    /// Who is at the other end of a connection.
    func client(at address: SocketAddress?) -> Client {
        guard isCounting, let host = address?.ipAddress else { return .spared }
        if proxies.include(host) { return .many(server: host) }
        return client(at: host)
    }

    /// Whether one more request of a client is answered.
    ///
    /// - Parameter fields: Those of the request.
    func takesRequest(from client: Client, _ fields: HTTPFields, now: MonotonicTime) -> Bool {
        switch client {
        case .spared:
            return true
        case .one(let account):
            let isTaken = ledger.withLock { $0.takesRequest(from: account, now: now) }
            if !isTaken { refusals.add(1, ordering: .relaxed) }
            return isTaken
        case .many(let server):
            let origin = proxies.origin(of: fields, peer: server).address ?? server
            return takesRequest(from: self.client(at: origin), fields, now: now)
        }
    }

    /// Who asks from an address that is nobody else's.
    private func client(at host: String) -> Client {
        guard let address = PeerAddress(host) else { return .one(host) }
        return address.isLoopback && sparesLoopback ? .spared : .one(address.accountName)
    }
}
