import Dispatch
import Synchronization

/// Wakes one waiting task on a signal or timeout; a signal without a waiter is stored for the next wait.
public final class AsyncSignal: Sendable {
    private struct State {
        var isSignalled = false
        var waiter: CheckedContinuation<Void, Never>?
        /// Identifies the wait to which a timeout belongs.
        var turn: UInt64 = 0
    }

    private let state = Mutex(State())

    /// Makes a signal that has not been fired.
    public init() {}

    /// Wakes the waiting task, or the next one to wait; any thread.
    public func fire() {
        wake { state in
            state.isSignalled = state.waiter == nil
            return true
        }
    }

    /// Waits for a signal, for a maximum number of seconds, or until the task is cancelled.
    public func wait(atMost seconds: Double? = nil) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                let turn: UInt64? = state.withLock { state in
                    guard !state.isSignalled, !Task.isCancelled else {
                        state.isSignalled = false
                        return nil
                    }
                    state.turn += 1
                    state.waiter = waiter
                    return state.turn
                }
                guard let turn else { return waiter.resume() }
                guard let seconds else { return }
                DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + max(seconds, 0)) { [weak self] in
                    self?.wake { $0.turn == turn }
                }
            }
        } onCancel: {
            wake { _ in true }
        }
    }

    private func wake(_ isMeant: (inout State) -> Bool) {
        let waiter: CheckedContinuation<Void, Never>? = state.withLock { state in
            guard isMeant(&state) else { return nil }
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }
}
