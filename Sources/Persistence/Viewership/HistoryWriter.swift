import Foundation
import Logging
import Viewership

/// Loads and writes the history; replaces a database that stays locked.
///
/// Used on the writer's queue only.
struct HistoryWriter: Sendable {
    private let configuration: HistoryStoreConfiguration
    private let connection: StoreConnection<HistoryDatabase>
    private let logger: Logger
    /// Whether rows of an earlier run were not loaded, and have to be closed before the first write.
    private var hasOpenRows = false
    /// When another process was first found to hold the lock; seconds of any monotonic clock.
    private var lockedSince: Double?

    init(
        _ configuration: HistoryStoreConfiguration,
        connection: StoreConnection<HistoryDatabase>,
        logger: Logger
    ) {
        self.configuration = configuration
        self.connection = connection
        self.logger = logger
    }

    /// Loads the state of an earlier run; empty when it cannot be read.
    mutating func load() -> RecoveredAudience {
        do {
            return addSteps(to: try connection.load { (database) throws(StoreFault) in try database.load() })
        } catch {
            hasOpenRows = true
            logger.error(
                "the viewership history cannot be read; starting without it",
                metadata: ["reason": "\(error.reason)"]
            )
            return RecoveredAudience()
        }
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
            try connection.perform { (database) throws(StoreFault) in try save(batch, in: database) }
            lockedSince = nil
        } catch {
            guard case .locked = error else {
                lockedSince = nil
                throw error
            }
            let since = lockedSince ?? now
            lockedSince = since
            guard now - since >= configuration.quarantineTimeout else { throw error }
            connection.quarantine(because: error)
            lockedSince = nil
            try save(batch, in: connection.opened())
        }
    }

    /// Deletes expired rows.
    ///
    /// - Parameter date: Milliseconds since 1970.
    /// - Returns: Whether more rows are left to delete.
    func deleteExpired(at date: Int64) throws(StoreFault) -> Bool {
        try connection.opened().deleteExpired(
            sessionsBefore: date - Int64(configuration.sessionRetention * 1000),
            minutesBefore: configuration.minuteRetention > 0
                ? date - Int64(configuration.minuteRetention * 1000) : nil
        )
    }

    private mutating func save(_ batch: HistoryBatch, in database: HistoryDatabase) throws(StoreFault) {
        if hasOpenRows {
            try database.closeOpenRows()
            hasOpenRows = false
        }
        try database.save(batch)
    }
}
