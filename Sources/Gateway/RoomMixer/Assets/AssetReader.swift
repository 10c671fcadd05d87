import Logging
import Media
import NIOCore
import Synchronization

/// Brings the assets that a room's scenes name to its mixer.
///
/// The program never waits for one: until it is here, and when it never comes, the mixer does without.
final class AssetReader: Sendable {
    /// Fetches one asset.
    typealias Fetch = @Sendable (WantedAsset, any EventLoop) -> EventLoopFuture<ByteBuffer>

    private struct State {
        var errands = AssetErrands()
        /// Ids of what was taken back.
        var removed: Set<String> = []
        var ticker: RepeatedTask?
        var isStopped = false
    }

    /// Tries that are due are looked for this often.
    private static let interval = TimeAmount.milliseconds(500)

    private let loop: any EventLoop
    private let logger: Logger
    private let fetch: Fetch
    private let deliver: @Sendable (ByteBuffer?, String) -> Void
    private let state = Mutex(State())

    /// - Parameter deliver: Takes the bytes of an asset, or nil for one that is gone, and its id; called on the event loop.
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

    /// Says which assets are wanted from now on, and the ids of those that are there no more; any thread.
    func want(_ wanted: Set<WantedAsset>, without removed: [String] = []) {
        let gone = state.withLock { state in
            state.errands.want(wanted, now: .now())
            defer { state.removed = Set(removed) }
            return removed.filter { !state.removed.contains($0) }
        }
        // Where files are delivered too: what was on its way until now is taken back after it came.
        for id in gone { loop.execute { self.deliver(nil, id) } }
        fetchDue()
    }

    private func fetchDue() {
        let due = state.withLock { $0.isStopped ? [] : $0.errands.due(at: .now()) }
        for asset in due {
            fetch(asset, loop).whenComplete { result in
                switch result {
                case .success(let bytes): self.fetched(asset, bytes)
                case .failure(let error): self.failed(asset, error)
                }
            }
        }
    }

    private func fetched(_ asset: WantedAsset, _ bytes: ByteBuffer) {
        let isWanted = state.withLock { $0.errands.fetched(asset) }
        if isWanted { deliver(bytes, asset.id) }
        fetchDue()
    }

    private func failed(_ asset: WantedAsset, _ error: any Error) {
        let isFinal = (error as? AssetError)?.isFinal ?? false
        state.withLock {
            $0.errands.failed(asset, isFinal: isFinal, now: .now(), jitter: .random(in: 0...1))
        }
        logger.warning("could not fetch an asset", metadata: ["asset": "\(asset.id)", "reason": "\(error)"])
    }
}
