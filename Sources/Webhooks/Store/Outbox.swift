import Dispatch
import Foundation
import Logging
import SQLiteStore
import Synchronization

/// Runs database work on its own serial queue.
final class Outbox: Sendable {
    private let queue = DispatchQueue(label: "footlight.webhooks", qos: .utility)
    private let connection: Mutex<OutboxConnection>

    init(
        _ configuration: WebhookConfiguration,
        logger: Logger,
        knownEndpoints: @escaping @Sendable () -> [WebhookEndpoint]
    ) {
        connection = Mutex(
            OutboxConnection(
                path: configuration.path,
                lockTimeout: configuration.lockTimeout,
                logger: logger,
                knownEndpoints: knownEndpoints
            )
        )
    }

    /// The number of failed operations and of quarantined databases.
    var faultCounts: (failures: Int, quarantined: Int) { connection.withLock { ($0.failures, $0.quarantined) } }

    /// Schedules work on the queue.
    func later(after seconds: Double = 0, _ body: @escaping @Sendable () -> Void) {
        if seconds > 0 {
            queue.asyncAfter(deadline: .now() + seconds, execute: body)
        } else {
            queue.async(execute: body)
        }
    }

    /// Runs database work on the calling thread; call on the queue, or before it is used.
    func now<Outcome: Sendable>(
        _ body: (OutboxDatabase) throws(StoreFault) -> Outcome
    ) throws(StoreFault) -> Outcome {
        try connection.withLock { (connection) throws(StoreFault) in try connection.use(body) }
    }

    /// Runs database work on the queue, and waits for the result.
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

    /// Closes the database after the queued work; a later operation reopens it.
    func close() async {
        await withCheckedContinuation { closed in
            queue.async { [self] in
                connection.withLock { $0.close() }
                closed.resume()
            }
        }
    }
}

/// Opens the database on demand, and quarantines a damaged one.
///
/// Used by one thread at a time, the outbox's.
struct OutboxConnection: Sendable {
    private let path: String
    private let lockTimeout: Double
    private let logger: Logger
    private var database: OutboxDatabase?
    /// Returns the endpoints in memory, to be saved into a new database.
    private let knownEndpoints: @Sendable () -> [WebhookEndpoint]
    /// The number of failed operations.
    private(set) var failures = 0
    /// The number of databases that were quarantined, deleted or replaced.
    private(set) var quarantined = 0

    init(
        path: String,
        lockTimeout: Double,
        logger: Logger,
        knownEndpoints: @escaping @Sendable () -> [WebhookEndpoint]
    ) {
        self.path = path
        self.lockTimeout = lockTimeout
        self.logger = logger
        self.knownEndpoints = knownEndpoints
    }

    /// Runs an operation; if the database is damaged, quarantines it and runs the operation on a new one.
    mutating func use<Outcome>(
        _ body: (OutboxDatabase) throws(StoreFault) -> Outcome
    ) throws(StoreFault) -> Outcome {
        do {
            return try body(openDatabase())
        } catch {
            failures += 1
            close()
            switch error {
            case .damaged(let reason):
                quarantine(because: reason)
            case .lost(let reason):
                quarantined += 1
                logger.error(
                    "webhook database deleted or replaced; created a new one",
                    metadata: ["reason": "\(reason)"]
                )
            case .locked, .full, .unavailable:
                throw error
            }
        }
        let fresh = try openDatabase()
        try fresh.save(knownEndpoints())
        return try body(fresh)
    }

    mutating func close() {
        database?.close()
        database = nil
    }

    private mutating func openDatabase() throws(StoreFault) -> OutboxDatabase {
        if let database { return database }
        let fresh = try OutboxDatabase(path: path, lockTimeout: lockTimeout)
        database = fresh
        return fresh
    }

    private mutating func quarantine(because reason: String) {
        quarantined += 1
        do {
            let aside = try QuarantinedDatabase.move(path, as: "aside", at: Date())
            logger.error(
                "webhook database damaged; quarantined, created a new one",
                metadata: ["reason": "\(reason)", "file": "\(aside)"]
            )
        } catch {
            logger.error(
                "webhook database damaged and cannot be quarantined",
                metadata: ["reason": "\(reason)", "error": "\(error)"]
            )
        }
    }
}

/// An event to be stored in the outbox.
struct OutboxMessage: Sendable {
    let id: String
    let type: String
    /// The room's unique name; empty for none.
    let room: String
    /// Seconds since 1970.
    let at: Double
    /// The resource of the event as JSON.
    let data: Data
    /// The ids of the endpoints that receive the event.
    let recipients: [String]
    let mark: (name: String, value: Int64)?

    /// Returns the message body: the fields of Standard Webhooks and the sequence number.
    func body(sequence: Int64) -> Data {
        Self.body(type: type, at: at, sequence: sequence, data: data)
    }

    static func body(type: String, at: Double, sequence: Int64, data: Data) -> Data {
        // The formatter truncates, so the fraction is moved inside its millisecond.
        let date = Date(timeIntervalSince1970: ((at * 1000).rounded() + 0.4) / 1000)
        let time = date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        // A type consists of words and dots, so it needs no escaping.
        return Data(#"{"type":"\#(type)","timestamp":"\#(time)","seq":\#(sequence),"data":"#.utf8) + data
            + Data("}".utf8)
    }
}
