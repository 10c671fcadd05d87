import Foundation
import Logging
import SQLiteStore
import Stage
import Synchronization

/// The database while there is one: opened when it is needed, put aside when it is damaged.
///
/// Used on the keeper's queue alone, but for the count.
final class Shelf: Sendable {
    private let configuration: RoomStoreConfiguration
    private let logger: Logger
    private let database = Mutex<RoomDatabase?>(nil)
    private let damaged = Atomic(0)
    /// The database is another one than the rooms were written to, and nothing has been written to it yet.
    private let isBegunAnew = Atomic(false)

    init(configuration: RoomStoreConfiguration, logger: Logger) {
        self.configuration = configuration
        self.logger = logger
    }

    /// Databases that were put aside.
    var damagedDatabases: Int { damaged.load(ordering: .relaxed) }

    /// All rooms that can be read.
    func load() -> [RoomRecord] {
        var lastReason = ""
        // A second try for a database that was damaged, and one more for one that was locked by who is just leaving.
        for _ in 0..<3 {
            do {
                return try opened().load().compactMap(decoded)
            } catch {
                lastReason = error.reason
                reactTo(error)
            }
        }
        logger.error("stored rooms cannot be read; going on without", metadata: ["reason": "\(lastReason)"])
        return []
    }

    /// Writes rooms as they are now, and takes away those that are forgotten.
    ///
    /// A database that had to be begun anew gets all rooms with it.
    func save(_ sids: [String], from source: any RoomRecordSource) throws(StoreFault) {
        do {
            try saveOnce(sids, from: source)
            return
        } catch {
            reactTo(error)
            switch error {
            case .damaged, .lost: break
            case .locked, .full, .unavailable: throw error
            }
        }
        try saveOnce(sids, from: source)
    }

    private func saveOnce(_ sids: [String], from source: any RoomRecordSource) throws(StoreFault) {
        let isAnew = isBegunAnew.load(ordering: .relaxed)
        var rooms: [StoredRoom] = []
        var gone: [String] = []
        for sid in isAnew ? Set(sids).union(source.recordedRooms()).sorted() : sids {
            guard let record = source.record(of: sid) else {
                gone.append(sid)
                continue
            }
            do {
                rooms.append(try StoredRoom(record))
            } catch {
                // One room that cannot be written must not keep the others from it.
                logger.error("a room cannot be written as JSON", metadata: ["room": "\(sid)", "reason": "\(error)"])
            }
        }
        try save(rooms, removing: gone)
        if isAnew { isBegunAnew.store(false, ordering: .relaxed) }
    }

    /// Finds out whether rooms could be written at this moment.
    ///
    /// - Returns: The fault and whether all rooms have to be written again, to another database; nil when all is well.
    func probe() -> (fault: StoreFault, isNew: Bool)? {
        do {
            try opened().store.probe()
            return nil
        } catch {
            reactTo(error)
            return (error, isBegunAnew.load(ordering: .relaxed))
        }
    }

    func close() {
        database.withLock { database in
            database?.close()
            database = nil
        }
    }

    private func save(_ rooms: [StoredRoom], removing gone: [String]) throws(StoreFault) {
        try opened().save(
            rooms,
            removing: gone,
            keptEnded: configuration.keptEndedRooms,
            endedSince: Date().timeIntervalSince1970 - configuration.endedRetention
        )
    }

    private func opened() throws(StoreFault) -> RoomDatabase {
        if let open = database.withLock({ $0 }) { return open }
        let fresh = try RoomDatabase(path: configuration.path, lockTimeout: configuration.lockTimeout)
        database.withLock { $0 = fresh }
        return fresh
    }

    /// Closes the database, so that the next use opens it anew; a damaged one is put aside, and another one begun.
    private func reactTo(_ fault: StoreFault) {
        close()
        if case .lost(let reason) = fault {
            isBegunAnew.store(true, ordering: .relaxed)
            logger.error("stored rooms were deleted or replaced; begun anew", metadata: ["reason": "\(reason)"])
        }
        guard case .damaged(let reason) = fault else { return }
        damaged.add(1, ordering: .relaxed)
        isBegunAnew.store(true, ordering: .relaxed)
        do {
            let aside = try AsideFiles.put(configuration.path, as: "damaged", at: Date())
            logger.error(
                "stored rooms are damaged; put aside, and begun anew",
                metadata: ["reason": "\(reason)", "file": "\(aside)"]
            )
        } catch {
            logger.error(
                "stored rooms are damaged and cannot be put aside",
                metadata: ["reason": "\(reason)", "error": "\(error)"]
            )
        }
    }

    private func decoded(_ room: StoredRoom) -> RoomRecord? {
        do {
            return try room.decoded()
        } catch {
            logger.error("a stored room cannot be read", metadata: ["room": "\(room.sid)", "reason": "\(error)"])
            return nil
        }
    }
}
