import Dispatch

/// Runs the work of the store on its own serial queue.
final class Outbox: Sendable {
    /// Used on the queue only, and before it is used.
    let store: any WebhookStore
    private let queue = DispatchQueue(label: "footlight.webhooks", qos: .utility)

    init(_ store: any WebhookStore) {
        self.store = store
    }

    /// Schedules work on the queue.
    func later(after seconds: Double = 0, _ body: @escaping @Sendable () -> Void) {
        if seconds > 0 {
            queue.asyncAfter(deadline: .now() + seconds, execute: body)
        } else {
            queue.async(execute: body)
        }
    }

    /// Runs work of the store on the queue, and waits for the result.
    func perform<Outcome: Sendable>(
        _ body: @escaping @Sendable (any WebhookStore) throws -> Outcome
    ) async throws -> Outcome {
        try await withCheckedThrowingContinuation { answer in
            queue.async { [store] in answer.resume(with: Result { try body(store) }) }
        }
    }
}
