import HTTPTypes
import Media
import NIOCore
import Stage
import Synchronization

/// Limits the request rate of each client over all connections of the HTTP port.
///
/// Hundreds of viewers may share one address, in a school or a mobile network, and a low-latency player makes ten
/// requests a second. A client therefore has the configured rate plus an allowance for each session behind its
/// address: a proven session adds what its player needs, an unproven one what it needs to become proven. The number
/// of sessions per client is limited too, so the total is bounded.
final class RequestRateLimiter: Sendable {
    /// The client or clients of a connection.
    enum Client: Equatable {
        /// Not counted.
        case unlimited
        /// A single client.
        case one(UInt64)
        /// Many clients, or `itself`: the server at that address forwards requests and names their origin.
        ///
        /// A server named by the operator has no limit itself.
        case many(server: String, itself: UInt64?)
    }

    /// The allowance of a session: requests per second, and burst.
    ///
    /// A low-latency player fetches five parts and five playlists a second; a new one has fetched two playlists, the
    /// initialization segment and some segments before it counts.
    private static let watching = (perSecond: 15.0, burst: 30.0)
    private static let unproven = (perSecond: 1.0, burst: 20.0)

    private struct State {
        var limiter: RateLimiter<UInt64>
        /// The response to a request beyond the limit.
        var refusal: MediaResponse

        init(_ requests: (perSecond: Double, burst: Double)?) {
            let (perSecond, burst) = requests ?? (0, 0)
            limiter = RateLimiter(perSecond: perSecond, burst: burst)
            refusal = .tooManyRequests(rate: requests?.perSecond ?? 1)
        }
    }

    private let isCounting: Atomic<Bool>
    private let state: Mutex<State>
    private let audience: (any AudienceObserving)?
    private let proxies: TrustedProxies
    private let refusals = Atomic<UInt64>(0)

    /// The number of refused requests.
    var refused: UInt64 { refusals.load(ordering: .relaxed) }

    /// - Parameters:
    ///   - audience: Provides the number of sessions per client.
    ///   - proxies: The proxies that are trusted to name the origin of a request.
    init(
        _ limits: HTTPLimits,
        audience: (any AudienceObserving)? = nil,
        proxies: TrustedProxies = TrustedProxies()
    ) {
        isCounting = Atomic(limits.requests != nil)
        state = Mutex(State(limits.requests))
        self.audience = audience
        self.proxies = proxies
    }

    /// The response to a request beyond the limit.
    var refusal: MediaResponse { state.withLock { $0.refusal } }

    /// Changes the limit; nil for none.
    ///
    /// What clients have requested is forgotten.
    func setLimit(_ requests: (perSecond: Double, burst: Double)?) {
        state.withLock { $0 = State(requests) }
        isCounting.store(requests != nil, ordering: .relaxed)
    }

    /// Returns the client at a connection's remote address.
    func client(at address: SocketAddress?) -> Client {
        guard let host = address?.ipAddress else { return .unlimited }
        let account = PeerAddress(host)?.account
        guard proxies.mayReport(from: host) else { return account.map { .one($0) } ?? .unlimited }
        return .many(server: host, itself: proxies.include(host) ? nil : account)
    }

    /// Whether a trusted proxy forwarded the request for another client.
    func isForwarding(_ client: Client, _ fields: HTTPFields) -> Bool {
        guard case .many = client else { return false }
        return TrustedProxies.isForwarded(fields)
    }

    /// Whether one more request of a client is within its limit; counts a refusal otherwise.
    ///
    /// - Parameter fields: The header fields of the request.
    func allowsRequest(from client: Client, _ fields: HTTPFields, now: MonotonicTime) -> Bool {
        guard isCounting.load(ordering: .relaxed), let account = account(of: client, fields) else { return true }
        if state.withLock({ $0.limiter.allowsRequest(from: account, now: now) }) { return true }
        if let more = more(for: account),
            state.withLock({ $0.limiter.allowsRequest(from: account, now: now, more: more) })
        {
            return true
        }
        refusals.add(1, ordering: .relaxed)
        return false
    }

    /// Returns the account to which a request is charged; nil if it has no limit.
    ///
    /// - Parameter fields: The header fields of the request.
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

    /// Returns the allowance for the sessions of a client; nil if it has none.
    private func more(for account: UInt64) -> (perSecond: Double, burst: Double)? {
        guard let sessions = audience?.sessions(of: account), sessions != ClientSessions() else { return nil }
        let (watching, unproven) = (Double(sessions.watching), Double(sessions.unproven))
        return (
            watching * Self.watching.perSecond + unproven * Self.unproven.perSecond,
            watching * Self.watching.burst + unproven * Self.unproven.burst
        )
    }
}
