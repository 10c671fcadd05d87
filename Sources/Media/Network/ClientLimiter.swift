import Synchronization

/// Counts what each client has open of one kind, and refuses what is beyond its limit.
///
/// A client is a `PeerAddress.account`. It holds an entry for each client that has something open, and none for others.
/// Any thread.
public final class ClientLimiter: Sendable {
    /// The most that one client may have open; nil for any number.
    public let limit: Int?
    private let open = Mutex<[UInt64: Int]>([:])
    private let refusals = Atomic<UInt64>(0)

    /// Makes a limiter.
    ///
    /// - Parameter limit: The most that one client may have open; nil for any number.
    public init(limit: Int?) {
        self.limit = limit
    }

    /// How often a client was refused.
    public var refused: UInt64 { refusals.load(ordering: .relaxed) }

    /// What a client has open.
    public func count(of client: UInt64) -> Int { open.withLock { $0[client] ?? 0 } }

    /// Opens one more.
    ///
    /// - Parameters:
    ///   - client: Its `PeerAddress.account`; nil for one that is never refused.
    ///   - extra: What it may have beyond the limit; asked only where the limit alone does not do.
    /// - Returns: Its place; nil when it has too many open.
    public func enter(_ client: UInt64?, extra: () -> Int = { 0 }) -> ClientPlace? {
        guard let client, let limit else { return ClientPlace(nil, client: 0) }
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
        return ClientPlace(self, client: client)
    }

    fileprivate func leave(_ client: UInt64) {
        open.withLock { open in
            let count = (open[client] ?? 1) - 1
            open[client] = count > 0 ? count : nil
        }
    }
}

/// One place of a client in a `ClientLimiter`; given back at the latest when the object is let go.
public final class ClientPlace: Sendable {
    private let limiter: ClientLimiter?
    private let client: UInt64
    private let hasLeft = Atomic<Bool>(false)

    fileprivate init(_ limiter: ClientLimiter?, client: UInt64) {
        self.limiter = limiter
        self.client = client
    }

    /// Gives the place back; a second call does nothing.
    public func leave() {
        guard !hasLeft.exchange(true, ordering: .relaxed) else { return }
        limiter?.leave(client)
    }

    deinit { leave() }
}
