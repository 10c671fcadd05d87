import HTTPTypes
import Media
import NIOCore
import Stage
import Synchronization

/// Limits the requests of each client, over all connections of the HTTP port.
///
/// Hundreds of viewers may share one address, as those of a school or of a mobile network do, and a player of low
/// latency makes ten requests a second. So a client may make requests at the rate that the limits name, and more for each
/// session behind its address: a session that is proven to watch pays for all that its player asks, one that is not yet
/// for what it needs to get there. How many sessions one client may have has limits too, so that all of it is bounded.
final class RequestBudget: Sendable {
    /// From whom the requests of a connection come.
    enum Client: Equatable {
        /// Nobody counts them.
        case unlimited
        /// All from one.
        case one(UInt64)
        /// From many, or from `itself`: the server at that address says of each request whose it is. One that the
        /// operator has named has no limits itself.
        case many(server: String, itself: UInt64?)
    }

    /// What a session adds to its client's budget: requests a second, and at once.
    ///
    /// A player of low latency fetches five parts and five playlists a second; a new one has fetched two playlists, the
    /// initialization and some segments before it counts.
    private static let watching = (perSecond: 15.0, burst: 30.0)
    private static let unproven = (perSecond: 1.0, burst: 20.0)

    private let isCounting: Bool
    private let ledger: Mutex<RateLimiter<UInt64>>
    private let audience: (any AudienceObserving)?
    private let proxies: TrustedProxies
    private let refusals = Atomic<UInt64>(0)

    /// Requests that were one too many.
    var refused: UInt64 { refusals.load(ordering: .relaxed) }

    /// - Parameters:
    ///   - audience: Who knows what sessions a client has.
    ///   - proxies: The servers in front that say where a request comes from.
    init(
        _ limits: HTTPLimits,
        audience: (any AudienceObserving)? = nil,
        proxies: TrustedProxies = TrustedProxies()
    ) {
        isCounting = limits.requests != nil
        let (perSecond, burst) = limits.requests ?? (0, 0)
        ledger = Mutex(RateLimiter(perSecond: perSecond, burst: burst))
        self.audience = audience
        self.proxies = proxies
    }

    /// Who is at the other end of a connection.
    func client(at address: SocketAddress?) -> Client {
        guard let host = address?.ipAddress else { return .unlimited }
        let account = PeerAddress(host)?.account
        guard proxies.mayReport(from: host) else { return account.map { .one($0) } ?? .unlimited }
        return .many(server: host, itself: proxies.include(host) ? nil : account)
    }

    /// Whether a request was made for somebody else, by a server that is believed.
    func isForwarding(_ client: Client, _ fields: HTTPFields) -> Bool {
        guard case .many = client else { return false }
        return TrustedProxies.isForwarded(fields)
    }

    /// Whether one more request of a client is answered.
    ///
    /// - Parameter fields: Those of the request.
    func takesRequest(from client: Client, _ fields: HTTPFields, now: MonotonicTime) -> Bool {
        guard isCounting, let account = account(of: client, fields) else { return true }
        if ledger.withLock({ $0.takesRequest(from: account, now: now) }) { return true }
        if let more = more(for: account), ledger.withLock({ $0.takesRequest(from: account, now: now, more: more) }) {
            return true
        }
        refusals.add(1, ordering: .relaxed)
        return false
    }

    /// Whose a request is; nil for one that has no limits.
    ///
    /// - Parameter fields: Those of the request.
    func account(of client: Client, _ fields: HTTPFields) -> UInt64? {
        switch client {
        case .unlimited: return nil
        case .one(let account): return account
        case .many(let server, let itself):
            guard TrustedProxies.isForwarded(fields) else { return itself }
            let origin = proxies.origin(of: fields, peer: server).address ?? server
            return origin == server ? itself : PeerAddress(origin)?.account
        }
    }

    /// What the sessions of a client add to its budget; nil when it has none.
    private func more(for account: UInt64) -> (perSecond: Double, burst: Double)? {
        guard let sessions = audience?.sessions(of: account), sessions != ClientSessions() else { return nil }
        let (watching, unproven) = (Double(sessions.watching), Double(sessions.unproven))
        return (
            watching * Self.watching.perSecond + unproven * Self.unproven.perSecond,
            watching * Self.watching.burst + unproven * Self.unproven.burst
        )
    }
}
