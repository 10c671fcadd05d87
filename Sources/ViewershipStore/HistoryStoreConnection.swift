import Foundation
import Logging
import SQLiteStore
import Viewership

/// Opens the history database on demand, and quarantines and replaces an unusable one.
///
/// Accessed by one thread at a time, under the store's lock.
struct HistoryStoreConnection: Sendable {
    private let configuration: HistoryStoreConfiguration
    private let logger: Logger
    private(set) var database: HistoryDatabase?
    /// The number of databases that were quarantined, deleted or replaced.
    private(set) var quarantined = 0
    /// Whether rows of an earlier run were not loaded, and have to be closed before the first write.
    private var hasOpenRows = false
    /// When another process was first found to hold the lock; seconds of any monotonic clock.
    private var lockedSince: Double?

    init(configuration: HistoryStoreConfiguration, logger: Logger) {
        self.configuration = configuration
        self.logger = logger
    }

    /// Loads the state of an earlier run; empty when it cannot be read.
    mutating func load() -> RecoveredAudience {
        var lastReason = ""
        // The second try follows a damaged database, the third one a lock of a process that is just exiting.
        for _ in 0..<3 {
            do {
                return addSteps(to: try opened().load())
            } catch {
                lastReason = error.reason
                recover(error)
            }
        }
        hasOpenRows = true
        logger.error(
            "the viewership history cannot be read; starting without it",
            metadata: ["reason": "\(lastReason)"]
        )
        return RecoveredAudience()
    }

    /// Adds the session steps after the last write.
    private func addSteps(to recovered: RecoveredAudience) -> RecoveredAudience {
        guard let lastSeen = recovered.lastSeen,
            let log = SessionStepLog.read(path: configuration.stepsPath, from: lastSeen - Self.requestOverlap)
        else { return recovered }
        var recovered = recovered
        recovered.livedUntil = log.livedUntil
        recovered.steps = log.steps.filter { $0.kind == .requested || $0.at >= lastSeen - Self.stepOverlap }
        return recovered
    }

    /// Overlap in milliseconds before the last write, since a connection is proven only after five seconds.
    private static let stepOverlap: Int64 = 7000
    /// Overlap for sessions that requested a playlist, which are proven by the next request.
    private static let requestOverlap: Int64 = 15_000

    /// Writes a batch; quarantines and replaces a database that is damaged or stays locked.
    ///
    /// A database that is full or out of reach is never replaced, because a new one would be on the same disk.
    ///
    /// - Parameter now: Seconds of any monotonic clock.
    mutating func save(_ batch: HistoryBatch, now: Double) throws(StoreFault) {
        do {
            try saveOnce(batch)
            lockedSince = nil
            return
        } catch {
            recover(error)
            switch error {
            case .damaged, .lost: break
            case .full, .unavailable:
                lockedSince = nil
                throw error
            case .locked(let reason):
                let since = lockedSince ?? now
                lockedSince = since
                guard now - since >= configuration.quarantineTimeout else { throw error }
                quarantine(because: reason)
            }
        }
        lockedSince = nil
        try saveOnce(batch)
    }

    /// Deletes expired rows.
    ///
    /// - Parameter date: Milliseconds since 1970.
    /// - Returns: Whether more rows are left to delete.
    mutating func deleteExpired(at date: Int64) throws(StoreFault) -> Bool {
        try opened().deleteExpired(
            sessionsBefore: date - Int64(configuration.sessionRetention * 1000),
            minutesBefore: configuration.minuteRetention > 0
                ? date - Int64(configuration.minuteRetention * 1000) : nil
        )
    }

    /// Checks whether a batch could be written at this moment.
    mutating func probe() throws(StoreFault) {
        do {
            try opened().store.probe()
        } catch {
            recover(error)
            throw error
        }
    }

    mutating func close() {
        database?.close()
        database = nil
    }

    mutating func opened() throws(StoreFault) -> HistoryDatabase {
        if let database { return database }
        let fresh = try HistoryDatabase(path: configuration.path, lockTimeout: configuration.lockTimeout)
        database = fresh
        return fresh
    }

    private mutating func saveOnce(_ batch: HistoryBatch) throws(StoreFault) {
        let database = try opened()
        if hasOpenRows {
            try database.closeOpenRows()
            hasOpenRows = false
        }
        try database.save(batch)
    }

    /// Closes the database, so that the next use reopens it, and quarantines a damaged one.
    ///
    /// A full database stays open, so that reports continue and it is not checked again at each retry.
    private mutating func recover(_ fault: StoreFault) {
        switch fault {
        case .damaged(let reason): quarantine(because: reason)
        case .lost(let reason):
            close()
            quarantined += 1
            logger.error(
                "the viewership history was deleted or replaced; recreating it",
                metadata: ["reason": "\(reason)"]
            )
        case .locked, .unavailable: close()
        case .full: break
        }
    }

    private mutating func quarantine(because reason: String) {
        close()
        quarantined += 1
        do {
            let quarantined = try QuarantinedDatabase.move(configuration.path, as: "aside", at: Date())
            logger.error(
                "the viewership history is unusable; quarantined, recreating it",
                metadata: ["reason": "\(reason)", "file": "\(quarantined)"]
            )
        } catch {
            logger.error(
                "the viewership history is unusable and cannot be quarantined",
                metadata: ["reason": "\(reason)", "error": "\(error)"]
            )
        }
    }
}
