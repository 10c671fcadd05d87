import Synchronization

/// Limits how many resources of one kind each client may have open.
///
/// A client is identified by its `PeerAddress.account`. Only clients with something open use memory. Thread-safe.
public final class ClientLimiter: Sendable {
    private let maximum: Atomic<Int>
    private let open = Mutex<[UInt64: Int]>([:])
    private let refusals = Atomic<UInt64>(0)

    /// Makes a limiter.
    ///
    /// - Parameter limit: The number a client may have open; nil for no limit.
    public init(limit: Int?) {
        maximum = Atomic(limit ?? .max)
    }

    /// The number a client may have open; nil for no limit.
    public var limit: Int? {
        let limit = maximum.load(ordering: .relaxed)
        return limit == .max ? nil : limit
    }

    /// Changes the limit; what is open stays open.
    public func setLimit(_ limit: Int?) {
        maximum.store(limit ?? .max, ordering: .relaxed)
    }

    /// The number of refusals so far.
    public var refused: UInt64 { refusals.load(ordering: .relaxed) }

    /// Returns the number a client has open.
    public func count(of client: UInt64) -> Int { open.withLock { $0[client] ?? 0 } }

    /// Opens one more resource for a client.
    ///
    /// - Parameters:
    ///   - client: Its `PeerAddress.account`; nil for a client without a limit.
    ///   - extra: An allowance on top of the limit; called only when the limit is reached.
    /// - Returns: The client's slot; nil when it has too many open.
    public func enter(_ client: UInt64?, extra: () -> Int = { 0 }) -> ClientSlot? {
        guard let client, let limit else { return ClientSlot(nil, client: 0) }
        let count = count(of: client)
        let allowed = count < limit ? limit : limit + max(0, extra())
        let isIn = open.withLock { open in
            guard open[client, default: 0] < allowed else { return false }
            open[client, default: 0] += 1
            return true
        }
        guard isIn else {
            refusals.add(1, ordering: .relaxed)
            return nil
        }
        return ClientSlot(self, client: client)
    }

    fileprivate func leave(_ client: UInt64) {
        open.withLock { open in
            let count = (open[client] ?? 1) - 1
            open[client] = count > 0 ? count : nil
        }
    }
}

/// One open resource of a client in a `ClientLimiter`, released at the latest when the object is deallocated.
public final class ClientSlot: Sendable {
    private let limiter: ClientLimiter?
    private let client: UInt64
    private let hasLeft = Atomic<Bool>(false)

    fileprivate init(_ limiter: ClientLimiter?, client: UInt64) {
        self.limiter = limiter
        self.client = client
    }

    /// Releases the slot; further calls do nothing.
    public func leave() {
        guard !hasLeft.exchange(true, ordering: .relaxed) else { return }
        limiter?.leave(client)
    }

    deinit { leave() }
}
