/// A token bucket per client, in the form of a debt that grows by one with each request and shrinks with time.
///
/// The number of clients is bounded; a client without debt needs no entry.
public struct RateLimiter<Client: Hashable & Sendable>: Sendable {
    private struct Debt: Sendable {
        var requests: Double
        var at: MonotonicTime
    }

    private let perSecond: Double
    private let burst: Double
    private let capacity: Int
    private var debts: [Client: Debt] = [:]

    /// Creates a limiter without clients.
    ///
    /// - Parameters:
    ///   - perSecond: Sustained requests per second of a client.
    ///   - burst: Requests a client may make at once after a pause.
    ///   - capacity: The largest number of clients with an entry.
    public init(perSecond: Double, burst: Double, capacity: Int = 16_384) {
        self.perSecond = perSecond
        self.burst = burst
        self.capacity = capacity
    }

    /// The number of clients with an entry.
    public var count: Int { debts.count }

    /// Whether the limiter allows one more request of the client; a refused request costs nothing.
    ///
    /// - Parameter more: An allowance on top of the limits of all clients.
    public mutating func allowsRequest(
        from client: Client,
        now: MonotonicTime,
        more: (perSecond: Double, burst: Double) = (0, 0)
    ) -> Bool {
        let debt = debts[client].map { requests($0, now: now, perSecond: perSecond + more.perSecond) } ?? 0
        guard debt + 1 <= burst + more.burst else { return false }
        if debts[client] == nil, debts.count >= capacity { evict(now: now) }
        debts[client] = Debt(requests: debt + 1, at: now)
        return true
    }

    /// Counts a request that has been made already, and returns whether it was within the limit.
    ///
    /// A client over the limit stays there for as long as it goes on, but owes no more than one request above the burst.
    public mutating func chargeRequest(to client: Client, now: MonotonicTime) -> Bool {
        let debt = debts[client].map { requests($0, now: now) } ?? 0
        if debts[client] == nil, debts.count >= capacity { evict(now: now) }
        debts[client] = Debt(requests: min(debt, burst) + 1, at: now)
        return debt + 1 <= burst
    }

    /// Takes back a request, so that it costs nothing.
    public mutating func refundRequest(to client: Client, now: MonotonicTime) {
        guard let debt = debts[client] else { return }
        let left = requests(debt, now: now) - 1
        debts[client] = left > 0 ? Debt(requests: left, at: now) : nil
    }

    /// Returns the seconds after which the limiter allows one more request of the client, if it makes none before.
    public func delay(of client: Client, now: MonotonicTime) -> Double {
        guard let debt = debts[client] else { return 0 }
        return max(0, (requests(debt, now: now) + 1 - burst) / perSecond)
    }

    /// Evicts the clients without debt, then the half with the smallest debts.
    private mutating func evict(now: MonotonicTime) {
        debts = debts.filter { requests($0.value, now: now) > 0 }
        guard debts.count >= capacity else { return }
        let most = debts.sorted { requests($0.value, now: now) > requests($1.value, now: now) }.prefix(capacity / 2)
        debts = Dictionary(uniqueKeysWithValues: most.map { ($0.key, $0.value) })
    }

    private func requests(_ debt: Debt, now: MonotonicTime, perSecond: Double? = nil) -> Double {
        max(0, debt.requests - now.seconds(since: debt.at) * (perSecond ?? self.perSecond))
    }
}
