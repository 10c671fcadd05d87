import Stage
import Synchronization

/// The answer to one request, from whoever settles it first: the network, the deadline, or the end of the waiting task.
final class PendingAnswer: Sendable {
    typealias Outcome = Result<HTTPAnswer, StageError>

    private struct State {
        var outcome: Outcome?
        var reader: CheckedContinuation<Outcome, Never>?
    }

    private let state = Mutex(State())

    /// Settles the answer, if nobody has.
    func settle(_ outcome: Outcome) {
        let reader = state.withLock { state -> CheckedContinuation<Outcome, Never>? in
            guard state.outcome == nil else { return nil }
            state.outcome = outcome
            defer { state.reader = nil }
            return state.reader
        }
        reader?.resume(returning: outcome)
    }

    /// Waits until it is settled; one task only may wait.
    func outcome() async -> Outcome {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let known = state.withLock { state -> Outcome? in
                    if state.outcome == nil { state.reader = continuation }
                    return state.outcome
                }
                if let known { continuation.resume(returning: known) }
            }
        } onCancel: {
            settle(.failure(.requestCancelled))
        }
    }
}
