import Dispatch
import Logging
import SQLiteStore
import Synchronization

/// The database on a thread of its own, one thing at a time.
final class Outbox: Sendable {
    private let queue = DispatchQueue(label: "footlight.webhooks", qos: .utility)
    private let shelf: Mutex<OutboxShelf>

    init(_ configuration: WebhookConfiguration, logger: Logger, remembered: @escaping @Sendable () -> [WebhookEndpoint])
    {
        shelf = Mutex(
            OutboxShelf(
                path: configuration.path,
                lockTimeout: configuration.lockTimeout,
                logger: logger,
                remembered: remembered
            )
        )
    }

    /// Uses that failed, and databases that were put aside.
    var troubles: (failures: Int, asides: Int) { shelf.withLock { ($0.failures, $0.asides) } }

    /// Does something later, in turn.
    func later(after seconds: Double = 0, _ body: @escaping @Sendable () -> Void) {
        if seconds > 0 {
            queue.asyncAfter(deadline: .now() + seconds, execute: body)
        } else {
            queue.async(execute: body)
        }
    }

    /// Does something with the database, on the thread of the caller; to be called in turn, or before anything else is.
    func now<Outcome: Sendable>(
        _ body: (OutboxDatabase) throws(StoreFault) -> Outcome
    ) throws(StoreFault) -> Outcome {
        try shelf.withLock { (shelf) throws(StoreFault) in try shelf.use(body) }
    }

    /// Does something with the database in turn, and waits for it.
    func perform<Outcome: Sendable>(
        _ body: @escaping @Sendable (OutboxDatabase) throws(StoreFault) -> Outcome
    ) async throws(StoreFault) -> Outcome {
        let result: Result<Outcome, StoreFault> = await withCheckedContinuation { answer in
            queue.async { [self] in
                do throws(StoreFault) {
                    answer.resume(returning: .success(try now(body)))
                } catch {
                    answer.resume(returning: .failure(error))
                }
            }
        }
        return try result.get()
    }

    /// Closes the database after what is in turn; a later use opens it again.
    func close() async {
        await withCheckedContinuation { closed in
            queue.async { [self] in
                shelf.withLock { $0.close() }
                closed.resume()
            }
        }
    }
}
