import Foundation
import Logging
import Synchronization

/// Opens a database on demand, closes it after a fault, and quarantines a damaged one.
///
/// Operations that recover from a fault are called by one thread at a time; `opened()` and the counts by any.
final class StoreConnection<Schema: StoreSchema>: Sendable {
    /// The faults so far.
    struct FaultCounts: Sendable {
        /// Failed operations.
        var failures = 0
        /// Databases that were quarantined.
        var quarantined = 0
        /// Databases that were deleted or replaced by others.
        var lost = 0
        /// Whether the latest of them was not followed by a full write yet.
        fileprivate var needsFullWrite = false
    }

    private let path: String
    private let lockTimeout: Double
    private let logger: Logger
    /// Locked while the database is opened, closed or moved, so that nothing opens it in between.
    private let database = Mutex<Schema?>(nil)
    /// Never locked during file access, so that reading the counts does not block.
    private let counts = Mutex(FaultCounts())

    /// Creates a connection; the first operation opens the database.
    ///
    /// - Parameter lockTimeout: Seconds to wait for a lock of another process, per attempt.
    init(path: String, lockTimeout: Double, logger: Logger) {
        self.path = path
        self.lockTimeout = lockTimeout
        self.logger = logger
    }

    /// The faults so far.
    var faults: FaultCounts { counts.withLock { $0 } }

    /// The path of the file.
    var location: String { path }

    /// The number of databases that were quarantined.
    var quarantinedDatabases: Int { faults.quarantined }

    /// Whether the database replaces an unusable one, and lacks what is in memory.
    var needsFullWrite: Bool { counts.withLock { $0.needsFullWrite } }

    /// Records that everything in memory was written to the database.
    func fullWriteCompleted() {
        counts.withLock { $0.needsFullWrite = false }
    }

    /// Returns the open database; opens it if necessary.
    func opened() throws(StoreFault) -> Schema {
        try database.withLock { (database) throws(StoreFault) in
            if let database { return database }
            let fresh = try Schema(path: path, lockTimeout: lockTimeout)
            database = fresh
            return fresh
        }
    }

    /// Runs an operation once; recovers from its fault, and throws it.
    func attempt<Outcome>(_ body: (Schema) throws(StoreFault) -> Outcome) throws(StoreFault) -> Outcome {
        do {
            return try body(opened())
        } catch {
            counts.withLock { $0.failures += 1 }
            recover(from: error)
            throw error
        }
    }

    /// Runs an operation; if the file is unusable, runs it again on a new one.
    func perform<Outcome>(_ body: (Schema) throws(StoreFault) -> Outcome) throws(StoreFault) -> Outcome {
        do {
            return try attempt(body)
        } catch {
            guard error.isOfFile else { throw error }
        }
        return try body(opened())
    }

    /// Runs the first operation of a process, up to three times.
    func load<Outcome>(_ body: (Schema) throws(StoreFault) -> Outcome) throws(StoreFault) -> Outcome {
        // The second try follows a damaged database, the third one a lock of a process that is just exiting.
        for _ in 0..<2 {
            do { return try attempt(body) } catch { continue }
        }
        return try attempt(body)
    }

    /// Checks whether the database could be written at this moment.
    func probe() throws(StoreFault) {
        try attempt { (database) throws(StoreFault) in try database.store.probe() }
    }

    /// Closes the database; the next operation reopens it.
    func close() {
        database.withLock { Self.close(&$0) }
    }

    /// Closes the database and moves it out of the way, so that the next operation creates a new one.
    func quarantine(because fault: StoreFault) {
        counts.withLock { counts in
            counts.quarantined += 1
            counts.needsFullWrite = true
        }
        var metadata: Logger.Metadata = ["reason": "\(fault.reason)"]
        if let advice = Schema.adviceOnDamage { metadata["advice"] = "\(advice)" }
        let condition = if case .damaged = fault { "damaged" } else { "unusable" }
        do {
            let destination = try database.withLock { database in
                Self.close(&database)
                return try QuarantinedDatabase.move(path, as: Schema.quarantineWord, at: Date())
            }
            metadata["file"] = "\(destination)"
            logger.error("stored \(Schema.content) are \(condition); quarantined, recreating them", metadata: metadata)
        } catch {
            metadata["error"] = "\(error)"
            logger.error("stored \(Schema.content) are \(condition) and cannot be quarantined", metadata: metadata)
        }
    }

    /// Closes the database, so that the next use reopens it, and quarantines a damaged one.
    ///
    /// A full database stays open, so that reading continues and it is not checked again at each retry.
    private func recover(from fault: StoreFault) {
        switch fault {
        case .damaged: quarantine(because: fault)
        case .lost(let reason):
            close()
            counts.withLock { counts in
                counts.lost += 1
                counts.needsFullWrite = true
            }
            logger.error(
                "stored \(Schema.content) were deleted or replaced; recreating them",
                metadata: ["reason": "\(reason)"]
            )
        case .locked, .unavailable: close()
        case .full, .fenced: break
        }
    }

    private static func close(_ database: inout Schema?) {
        database?.close()
        database = nil
    }
}

extension StoreConnection: RecordStorage {}
