import Synchronization

/// A value with any number of observers, each with a stream that begins with the current value.
///
/// The buffer for a slow reader is bounded and keeps the newest values.
public final class CurrentValue<Value: Sendable>: Sendable {
    fileprivate struct Reader {
        let continuation: AsyncStream<Value>.Continuation
        /// Whether the stream continues after `finishStreams()`.
        let isLasting: Bool
    }

    fileprivate struct State {
        var value: Value?
        var readers: [Int: Reader] = [:]
        var lastReader = 0
    }

    fileprivate let state: Mutex<State>
    private let waiting: Int

    /// Creates a value, optionally without an initial one, with a buffer size for each reader.
    public init(_ value: Value?, waiting: Int) {
        state = Mutex(State(value: value))
        self.waiting = waiting
    }

    deinit {
        for reader in state.withLock({ $0.readers }).values { reader.continuation.finish() }
    }

    /// Sets the value and sends it to all readers.
    public func send(_ value: Value) {
        let readers = state.withLock { state in
            state.value = value
            return state.readers
        }
        for reader in readers.values { reader.continuation.yield(value) }
    }

    /// Sends a value to the current readers only; later ones do not receive it.
    public func sendOnce(_ value: Value) {
        for reader in state.withLock({ $0.readers }).values { reader.continuation.yield(value) }
    }

    /// Returns a stream of the current value and all that follow, until ``finishStreams()``.
    public func stream() -> AsyncStream<Value> {
        stream(isLasting: false)
    }

    /// Returns a stream that continues after ``finishStreams()``, until the value is released.
    func lastingStream() -> AsyncStream<Value> {
        stream(isLasting: true)
    }

    /// Ends the present streams; later ones begin with the current value again.
    public func finishStreams() {
        let ended = state.withLock { state in
            let ended = state.readers.filter { !$0.value.isLasting }
            state.readers = state.readers.filter(\.value.isLasting)
            return ended
        }
        for reader in ended.values { reader.continuation.finish() }
    }

    private func stream(isLasting: Bool) -> AsyncStream<Value> {
        let (stream, continuation) = AsyncStream.makeStream(of: Value.self, bufferingPolicy: .bufferingNewest(waiting))
        let reader = state.withLock { state in
            state.lastReader += 1
            state.readers[state.lastReader] = Reader(continuation: continuation, isLasting: isLasting)
            // Within the lock, so that no newer value precedes it.
            if let value = state.value { continuation.yield(value) }
            return state.lastReader
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { _ = $0.readers.removeValue(forKey: reader) }
        }
        return stream
    }
}

extension CurrentValue where Value: Equatable {
    /// Sets the value and sends it to all readers, unless it is unchanged.
    public func sendChange(_ value: Value) {
        if state.withLock({ $0.value != value }) { send(value) }
    }
}
