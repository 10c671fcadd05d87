import Foundation
import Logging
import SQLiteStore

/// The database while there is one: opened when it is needed, put aside when it is damaged.
///
/// Used by one thread at a time, the outbox's.
struct OutboxShelf: Sendable {
    private let path: String
    private let lockTimeout: Double
    private let logger: Logger
    private var database: OutboxDatabase?
    /// The endpoints as they are known, for a database that is begun anew.
    private let remembered: @Sendable () -> [WebhookEndpoint]
    /// Uses that failed.
    private(set) var failures = 0
    /// Databases that were put aside, deleted or replaced.
    private(set) var asides = 0

    init(
        path: String,
        lockTimeout: Double,
        logger: Logger,
        remembered: @escaping @Sendable () -> [WebhookEndpoint]
    ) {
        self.path = path
        self.lockTimeout = lockTimeout
        self.logger = logger
        self.remembered = remembered
    }

    /// Does something with the database; a damaged one is put aside and it is done with another one.
    mutating func use<Outcome>(
        _ body: (OutboxDatabase) throws(StoreFault) -> Outcome
    ) throws(StoreFault) -> Outcome {
        do {
            return try body(opened())
        } catch {
            failures += 1
            close()
            switch error {
            case .damaged(let reason):
                putAside(because: reason)
            case .lost(let reason):
                asides += 1
                logger.error(
                    "the webhooks' database was deleted or replaced; begun anew",
                    metadata: ["reason": "\(reason)"]
                )
            case .locked, .full, .unavailable:
                throw error
            }
        }
        let fresh = try opened()
        try fresh.save(remembered())
        return try body(fresh)
    }

    mutating func close() {
        database?.close()
        database = nil
    }

    private mutating func opened() throws(StoreFault) -> OutboxDatabase {
        if let database { return database }
        let fresh = try OutboxDatabase(path: path, lockTimeout: lockTimeout)
        database = fresh
        return fresh
    }

    private mutating func putAside(because reason: String) {
        asides += 1
        do {
            let aside = try AsideFiles.put(path, as: "aside", at: Date())
            logger.error(
                "the webhooks' database is of no use; put aside, and begun anew",
                metadata: ["reason": "\(reason)", "file": "\(aside)"]
            )
        } catch {
            logger.error(
                "the webhooks' database is of no use and cannot be put aside",
                metadata: ["reason": "\(reason)", "error": "\(error)"]
            )
        }
    }
}
