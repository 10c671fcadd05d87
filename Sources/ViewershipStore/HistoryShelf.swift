import Foundation
import Logging
import SQLiteStore
import Viewership

/// The database while there is one: opened when it is needed, put aside when it is of no use.
///
/// Used by one thread at a time, the keeper's.
struct HistoryShelf: Sendable {
    private let configuration: HistoryStoreConfiguration
    private let logger: Logger
    private(set) var database: HistoryDatabase?
    /// Databases that were put aside, deleted or replaced.
    private(set) var asides = 0
    /// What an earlier run left was not read, and is to be ended before anything is added.
    private var hasLeftovers = false
    /// Since when somebody else has it locked; seconds of any clock.
    private var lockedSince: Double?

    init(configuration: HistoryStoreConfiguration, logger: Logger) {
        self.configuration = configuration
        self.logger = logger
    }

    /// What an earlier run left; nothing when it cannot be read.
    mutating func load() -> RecoveredAudience {
        var lastReason = ""
        // A second try for a database that was damaged, and one more for one that was locked by who is just leaving.
        for _ in 0..<3 {
            do {
                return addSteps(to: try opened().load())
            } catch {
                lastReason = error.reason
                reactTo(error)
            }
        }
        hasLeftovers = true
        logger.error("the audience's history cannot be read; going on without", metadata: ["reason": "\(lastReason)"])
        return RecoveredAudience()
    }

    /// The steps of sessions behind the last write.
    private func addSteps(to recovered: RecoveredAudience) -> RecoveredAudience {
        guard let lastSeen = recovered.lastSeen,
            let log = SessionStepLog.read(path: configuration.stepsPath, from: lastSeen - Self.askedOverlap)
        else { return recovered }
        var recovered = recovered
        recovered.livedUntil = log.livedUntil
        recovered.steps = log.steps.filter { $0.kind == .asked || $0.at >= lastSeen - Self.stepOverlap }
        return recovered
    }

    /// Milliseconds before the last write in which steps may be that it has not; a connection is proven after five seconds.
    private static let stepOverlap: Int64 = 7000
    /// The same for players who asked for a playlist, who are proven when they ask again.
    private static let askedOverlap: Int64 = 15_000

    /// Writes a batch; a damaged database is put aside and the batch written to another one.
    ///
    /// So is one that stays locked. One that is full, or out of reach, is what there is of the history: it stays,
    /// however long that lasts, for another one would be on the same disk.
    ///
    /// - Parameter now: seconds of any clock that goes on.
    mutating func save(_ batch: HistoryBatch, now: Double) throws(StoreFault) {
        do {
            try saveOnce(batch)
            lockedSince = nil
            return
        } catch {
            reactTo(error)
            switch error {
            case .damaged, .lost: break
            case .full, .unavailable:
                lockedSince = nil
                throw error
            case .locked(let reason):
                let since = lockedSince ?? now
                lockedSince = since
                guard now - since >= configuration.lockPatience else { throw error }
                putAside(because: reason)
            }
        }
        lockedSince = nil
        try saveOnce(batch)
    }

    /// Deletes what is kept no longer.
    ///
    /// - Parameter date: milliseconds since 1970.
    /// - Returns: whether more is left to delete.
    mutating func forget(at date: Int64) throws(StoreFault) -> Bool {
        try opened().forget(
            sessionsBefore: date - Int64(configuration.sessionRetention * 1000),
            minutesBefore: configuration.minuteRetention > 0
                ? date - Int64(configuration.minuteRetention * 1000) : nil
        )
    }

    /// Finds out whether a batch could be written at this moment.
    mutating func probe() throws(StoreFault) {
        do {
            try opened().store.probe()
        } catch {
            reactTo(error)
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
        if hasLeftovers {
            try database.closeLeftovers()
            hasLeftovers = false
        }
        try database.save(batch)
    }

    /// Closes the database, so that the next use opens it anew; a damaged one is put aside, and another one begun.
    ///
    /// One that is full stays open: reports go on, and it is not read from end to end at each try.
    private mutating func reactTo(_ fault: StoreFault) {
        switch fault {
        case .damaged(let reason): putAside(because: reason)
        case .lost(let reason):
            close()
            asides += 1
            logger.error(
                "the audience's history was deleted or replaced; begun anew",
                metadata: ["reason": "\(reason)"]
            )
        case .locked, .unavailable: close()
        case .full: break
        }
    }

    private mutating func putAside(because reason: String) {
        close()
        asides += 1
        do {
            let aside = try AsideFiles.put(configuration.path, as: "aside", at: Date())
            logger.error(
                "the audience's history is of no use; put aside, and begun anew",
                metadata: ["reason": "\(reason)", "file": "\(aside)"]
            )
        } catch {
            logger.error(
                "the audience's history is of no use and cannot be put aside",
                metadata: ["reason": "\(reason)", "error": "\(error)"]
            )
        }
    }
}
