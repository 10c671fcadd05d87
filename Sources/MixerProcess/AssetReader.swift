import Logging
import Media
import NIOCore
import Stage
import Synchronization

/// Provides a mixer with the assets that a room's scenes use.
///
/// The program never waits for an asset; the mixer renders without the missing ones.
final class AssetReader: Sendable {
    /// Fetches one asset.
    typealias Fetch = @Sendable (RequiredAsset, any EventLoop) -> EventLoopFuture<ByteBuffer>

    private struct State {
        var scheduler = AssetFetchScheduler()
        /// The ids of the assets that were removed from the room.
        var removed: Set<String> = []
        var ticker: RepeatedTask?
        var isStopped = false
    }

    /// The interval at which due retries are started.
    private static let interval = TimeAmount.milliseconds(500)

    private let loop: any EventLoop
    private let logger: Logger
    private let fetch: Fetch
    private let deliver: @Sendable (ByteBuffer?, String) -> Void
    private let state = Mutex(State())

    /// - Parameter deliver: Receives an asset's content, or nil for a removed one, and its id, on the event loop.
    init(
        group: any EventLoopGroup,
        logger: Logger,
        fetch: @escaping Fetch,
        deliver: @escaping @Sendable (ByteBuffer?, String) -> Void
    ) {
        loop = group.next()
        self.logger = logger
        self.fetch = fetch
        self.deliver = deliver
    }

    func start() {
        let ticker = loop.scheduleRepeatedTask(initialDelay: Self.interval, delay: Self.interval, notifying: nil) {
            [weak self] task in
            guard let self else { return task.cancel() }
            self.fetchDue()
        }
        state.withLock { $0.ticker = ticker }
    }

    func stop() {
        let ticker = state.withLock { state in
            state.isStopped = true
            return state.ticker.take()
        }
        ticker?.cancel()
    }

    /// Sets the required assets and the ids of the removed ones; any thread.
    func setRequired(_ required: Set<RequiredAsset>, removing removed: [String] = []) {
        let gone = state.withLock { state in
            state.scheduler.setRequired(required, now: .now())
            defer { state.removed = Set(removed) }
            return removed.filter { !state.removed.contains($0) }
        }
        // On the event loop of the deliveries, so that a removal follows a delivery that is under way.
        for id in gone { loop.execute { self.deliver(nil, id) } }
        fetchDue()
    }

    private func fetchDue() {
        let due = state.withLock { $0.isStopped ? [] : $0.scheduler.due(at: .now()) }
        for asset in due {
            fetch(asset, loop).whenComplete { result in
                switch result {
                case .success(let bytes): self.fetched(asset, bytes)
                case .failure(let error): self.failed(asset, error)
                }
            }
        }
    }

    private func fetched(_ asset: RequiredAsset, _ bytes: ByteBuffer) {
        let isRequired = state.withLock { $0.scheduler.fetched(asset) }
        if isRequired { deliver(bytes, asset.id) }
        fetchDue()
    }

    private func failed(_ asset: RequiredAsset, _ error: any Error) {
        let isFinal = (error as? AssetError)?.isFinal ?? false
        state.withLock {
            $0.scheduler.failed(asset, isFinal: isFinal, now: .now(), chance: .random(in: 0...1))
        }
        logger.warning("could not fetch an asset", metadata: ["asset": "\(asset.id)", "reason": "\(error)"])
    }
}

/// Schedules the fetches and retries of assets.
///
/// Each asset is fetched once. A failed fetch is retried with exponential backoff; after a final error the first retry
/// comes after the longest delay. The number of concurrent fetches is limited.
struct AssetFetchScheduler {
    private enum State {
        case waiting(until: MonotonicTime, failures: Int)
        case fetching(failures: Int)
        case available
    }

    /// The most assets of a room; further ones are not fetched.
    static let maximumAssets = 96
    /// The most concurrent fetches.
    static let maximumConcurrent = 3
    static let backoff = Backoff(initial: 1, maximum: 60)

    private var states: [RequiredAsset: State] = [:]

    init() {}

    /// Sets the assets to fetch.
    mutating func setRequired(_ required: Set<RequiredAsset>, now: MonotonicTime) {
        for asset in states.keys where !required.contains(asset) { states[asset] = nil }
        for asset in required.sorted(by: { $0.id < $1.id })
        where states[asset] == nil && states.count < Self.maximumAssets {
            states[asset] = .waiting(until: now, failures: 0)
        }
    }

    /// Returns the assets to fetch now.
    mutating func due(at now: MonotonicTime) -> [RequiredAsset] {
        let running = states.values.filter { if case .fetching = $0 { true } else { false } }.count
        let due = states.compactMap { asset, state -> (RequiredAsset, MonotonicTime, Int)? in
            guard case .waiting(let until, let failures) = state, until <= now else { return nil }
            return (asset, until, failures)
        }
        let chosen = due.sorted { ($0.1, $0.0.id) < ($1.1, $1.0.id) }.prefix(max(Self.maximumConcurrent - running, 0))
        for (asset, _, failures) in chosen { states[asset] = .fetching(failures: failures) }
        return chosen.map(\.0)
    }

    /// Records a completed fetch; returns whether the asset is still required.
    mutating func fetched(_ asset: RequiredAsset) -> Bool {
        guard states[asset] != nil else { return false }
        states[asset] = .available
        return true
    }

    /// Records a failed fetch.
    ///
    /// - Parameters:
    ///   - isFinal: Whether a prompt retry would fail the same way.
    ///   - chance: A random number from 0 to 1.
    mutating func failed(_ asset: RequiredAsset, isFinal: Bool, now: MonotonicTime, chance: Double) {
        guard case .fetching(let failures) = states[asset] else { return }
        let delay =
            if isFinal {
                Self.backoff.spread(Self.backoff.maximum, chance: chance)
            } else {
                Self.backoff.delay(retry: failures, chance: chance)
            }
        states[asset] = .waiting(until: now.advanced(seconds: delay), failures: failures + 1)
    }
}

/// An image or music that a room's scenes use.
struct RequiredAsset: Hashable, Sendable {
    /// The id in scenes: `asset:NAME`, or an `http://` or `https://` URL.
    let id: String
    /// The version of the uploaded content, from the room's events; nil if unknown.
    let version: String?
    /// The kind, which sets the size limit.
    var kind = Asset.Kind.image

    /// The name in the room; nil for a URL.
    var name: String? { id.hasPrefix("asset:") ? String(id.dropFirst("asset:".count)) : nil }
}
