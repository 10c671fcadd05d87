import Synchronization

/// A value that many watch, each by a stream of its own that begins with the value there is.
///
/// What waits for a slow reader is bounded, and the newest wins.
public final class CurrentValue<Value: Sendable>: Sendable {
    fileprivate struct State {
        var value: Value?
        var readers: [Int: AsyncStream<Value>.Continuation] = [:]
        var lastReader = 0
    }

    fileprivate let state: Mutex<State>
    private let waiting: Int

    /// Takes the value to begin with, if there is one, and how many values may wait for one reader.
    public init(_ value: Value?, waiting: Int) {
        state = Mutex(State(value: value))
        self.waiting = waiting
    }

    deinit {
        for reader in state.withLock({ $0.readers }).values { reader.finish() }
    }

    /// Hands a value to everybody.
    public func send(_ value: Value) {
        let readers = state.withLock { state in
            state.value = value
            return state.readers
        }
        for reader in readers.values { reader.yield(value) }
    }

    /// Hands a value to those who watch at this moment; who comes later does not get it.
    public func sendOnce(_ value: Value) {
        for reader in state.withLock({ $0.readers }).values { reader.yield(value) }
    }

    /// A stream of the value there is, and of all that follow.
    public func stream() -> AsyncStream<Value> {
        let (stream, continuation) = AsyncStream.makeStream(of: Value.self, bufferingPolicy: .bufferingNewest(waiting))
        let reader = state.withLock { state in
            state.lastReader += 1
            state.readers[state.lastReader] = continuation
            // Within the lock, so that no newer value comes before it.
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
    /// Hands a value to everybody, unless it is the one there is.
    public func sendChange(_ value: Value) {
        if state.withLock({ $0.value != value }) { send(value) }
    }
}
