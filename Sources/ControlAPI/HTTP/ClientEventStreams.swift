import Media
import Stage
import Synchronization

/// Limits the event streams of participants: a few for each, and a share of all streams.
final class ClientEventStreams: Sendable {
    /// The owner of a stream: an identity, in one room or in all rooms, as its token is bound.
    struct Owner: Hashable {
        let identity: String
        /// The room that the token is bound to.
        let bound: String?
        /// The room that is followed; nil for a stream of an identity.
        let roomSID: String?
    }

    private struct Entry {
        let id: UInt64
        weak var stream: ClientEventStream?
    }

    private struct State {
        var streams: [Owner: [Entry]] = [:]
        var count = 0
        var lastID: UInt64 = 0
    }

    /// Maximum number of streams of one owner; opening another one ends the oldest.
    static let streamsPerOwner = 4

    private let state = Mutex(State())

    /// Requires that participants use less than nine tenths of all streams.
    ///
    /// - Throws: 53006.
    func requireCapacity(within limit: Int) throws(StageError) {
        guard state.withLock({ $0.count }) < limit - limit / 10 else { throw .serverBusy(retryAfter: 5) }
    }

    /// Registers a stream.
    ///
    /// - Parameters:
    ///   - owner: The stream's owner; nil for a stream that is not counted.
    ///   - slot: The client's slot, retained until the stream ends.
    func open(_ subscription: EventSubscription, owner: Owner?, slot: ClientSlot? = nil) -> ClientEventStream {
        guard let owner else { return ClientEventStream(subscription) { slot?.leave() } }
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        let stream = ClientEventStream(subscription) { [weak self] in
            slot?.leave()
            self?.close(id, of: owner)
        }
        // The stream is used outside the lock: releasing it acquires the lock.
        let oldest = state.withLock { state -> Entry? in
            var streams = state.streams[owner] ?? []
            let oldest = streams.count >= Self.streamsPerOwner ? streams.removeFirst() : nil
            streams.append(Entry(id: id, stream: stream))
            state.streams[owner] = streams
            if oldest == nil { state.count += 1 }
            return oldest
        }
        oldest?.stream?.endReplaced()
        return stream
    }

    private func close(_ id: UInt64, of owner: Owner) {
        state.withLock { state in
            guard let index = state.streams[owner]?.firstIndex(where: { $0.id == id }) else { return }
            state.streams[owner]?.remove(at: index)
            if state.streams[owner]?.isEmpty ?? false { state.streams[owner] = nil }
            state.count -= 1
        }
    }
}

/// An open event stream of a client; counted until it is released.
final class ClientEventStream: Sendable {
    private let subscription: EventSubscription
    /// The reason why the gateway ended the stream; nil if it did not.
    private let reason = Mutex<StageError?>(nil)
    /// Observes the token that opened the stream.
    private let tokenObservation = Mutex<TokenObservation?>(nil)
    private let onClose: @Sendable () -> Void

    /// Creates a stream that calls `onClose` when it is released.
    init(_ subscription: EventSubscription, onClose: @escaping @Sendable () -> Void) {
        self.subscription = subscription
        self.onClose = onClose
    }

    deinit {
        onClose()
    }

    var events: AsyncStream<StageEvent> { subscription.events }

    func cancel() {
        subscription.cancel()
    }

    /// Ends the stream with a final error event, because a newer stream of the same owner replaces it.
    func endReplaced() {
        end(.serverBusy(retryAfter: 5))
    }

    /// Ends the stream with a final error event; the first reason is kept.
    func end(_ error: StageError) {
        reason.withLock { $0 = $0 ?? error }
        subscription.cancel()
    }

    /// Ends the stream when the token that opened it does.
    ///
    /// - Parameter begin: Begins to observe the token.
    func observe(_ begin: (_ end: @escaping @Sendable (StageError) -> Void) -> TokenObservation) {
        let observation = begin { [weak self] error in self?.end(error) }
        tokenObservation.withLock { $0 = observation }
    }

    /// The final event that reports why the gateway ended the stream; nil if it did not.
    func finalEvent(after latest: StageEvent?) -> StageEvent? {
        guard let error = reason.withLock({ $0 }), var last = latest else { return nil }
        last.payload = .sessionDisconnected(error)
        return last
    }
}
