import Dispatch
import Synchronization

/// Wakes one waiter when there is news, or when its time has come; a ring that nobody waited for is kept for the next.
final class Bell: Sendable {
    private struct State {
        var isRung = false
        var waiter: CheckedContinuation<Void, Never>?
        /// Tells a timer whether it is still its waiter that waits.
        var turn: UInt64 = 0
    }

    private let state = Mutex(State())

    func ring() {
        wake { state in
            state.isRung = state.waiter == nil
            return true
        }
    }

    /// Waits for a ring, at most so many seconds, or until the task is cancelled.
    func wait(atMost seconds: Double? = nil) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                let turn: UInt64? = state.withLock { state in
                    guard !state.isRung, !Task.isCancelled else {
                        state.isRung = false
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
