import Synchronization

/// A value with any number of observers, each with a stream that begins with the current value.
///
/// The buffer for a slow reader is bounded and keeps the newest values.
public final class CurrentValue<Value: Sendable>: Sendable {
    fileprivate struct State {
        var value: Value?
        var readers: [Int: AsyncStream<Value>.Continuation] = [:]
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
        for reader in state.withLock({ $0.readers }).values { reader.finish() }
    }

    /// Sets the value and sends it to all readers.
    public func send(_ value: Value) {
        let readers = state.withLock { state in
            state.value = value
            return state.readers
        }
        for reader in readers.values { reader.yield(value) }
    }

    /// Sends a value to the current readers only; later ones do not receive it.
    public func sendOnce(_ value: Value) {
        for reader in state.withLock({ $0.readers }).values { reader.yield(value) }
    }

    /// Returns a stream of the current value and all that follow.
    public func stream() -> AsyncStream<Value> {
        let (stream, continuation) = AsyncStream.makeStream(of: Value.self, bufferingPolicy: .bufferingNewest(waiting))
        let reader = state.withLock { state in
            state.lastReader += 1
            state.readers[state.lastReader] = continuation
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
