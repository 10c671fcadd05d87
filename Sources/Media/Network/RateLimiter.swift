/// Limits how often each client may do something: each has a debt that grows by one a request and shrinks with time.
///
/// It remembers a bounded number of clients; one without debts is as good as unknown.
public struct RateLimiter<Client: Hashable & Sendable>: Sendable {
    private struct Debt: Sendable {
        var requests: Double
        var at: MonotonicTime
    }

    private let perSecond: Double
    private let burst: Double
    private let capacity: Int
    private var debts: [Client: Debt] = [:]

    /// Makes a limiter that knows nobody.
    ///
    /// - Parameters:
    ///   - perSecond: Requests a client may make in the long run.
    ///   - burst: Requests it may make at once after a pause.
    ///   - capacity: Clients remembered at most.
    public init(perSecond: Double, burst: Double, capacity: Int = 16_384) {
        self.perSecond = perSecond
        self.burst = burst
        self.capacity = capacity
    }

    /// Clients remembered.
    public var count: Int { debts.count }

    /// Whether one more request of the client is answered; one that is not costs it nothing.
    ///
    /// - Parameter more: What the client may make beyond what all may.
    public mutating func takesRequest(
        from client: Client,
        now: MonotonicTime,
        more: (perSecond: Double, burst: Double) = (0, 0)
    ) -> Bool {
        let debt = debts[client].map { requests($0, now: now, perSecond: perSecond + more.perSecond) } ?? 0
        guard debt + 1 <= burst + more.burst else { return false }
        if debts[client] == nil, debts.count >= capacity { forget(now: now) }
        debts[client] = Debt(requests: debt + 1, at: now)
        return true
    }

    /// Makes room: a client without debts is as good as unknown, then that half of the others is that owes less.
    private mutating func forget(now: MonotonicTime) {
        debts = debts.filter { requests($0.value, now: now) > 0 }
        guard debts.count >= capacity else { return }
        let most = debts.sorted { requests($0.value, now: now) > requests($1.value, now: now) }.prefix(capacity / 2)
        debts = Dictionary(uniqueKeysWithValues: most.map { ($0.key, $0.value) })
    }

    private func requests(_ debt: Debt, now: MonotonicTime, perSecond: Double? = nil) -> Double {
        max(0, debt.requests - now.seconds(since: debt.at) * (perSecond ?? self.perSecond))
    }
}
