import Foundation
import Logging
import SQLiteStore
import Stage
import Synchronization

/// Opens the room database on demand, and quarantines and replaces a damaged one.
///
/// Used on the store's queue only, except for `quarantinedDatabases`.
final class RoomStoreConnection: Sendable {
    private let configuration: RoomStoreConfiguration
    private let logger: Logger
    private let database = Mutex<RoomDatabase?>(nil)
    private let damaged = Atomic(0)
    /// Whether the database is a new one that all rooms have yet to be written to.
    private let needsFullWrite = Atomic(false)

    init(configuration: RoomStoreConfiguration, logger: Logger) {
        self.configuration = configuration
        self.logger = logger
    }

    /// The number of databases that were quarantined.
    var quarantinedDatabases: Int { damaged.load(ordering: .relaxed) }

    /// Loads all rooms that can be decoded.
    func load() -> [RoomRecord] {
        var lastReason = ""
        // The second try follows a damaged database, the third one a lock of a process that is just exiting.
        for _ in 0..<3 {
            do {
                return try opened().load().compactMap(decoded)
            } catch {
                lastReason = error.reason
                recover(error)
            }
        }
        logger.error("stored rooms cannot be read; continuing without them", metadata: ["reason": "\(lastReason)"])
        return []
    }

    /// Writes the current records of rooms, and deletes those that are forgotten.
    ///
    /// A recreated database receives all rooms.
    func save(_ sids: [String], from source: any RoomRecordSource) throws(StoreFault) {
        do {
            try saveOnce(sids, from: source)
            return
        } catch {
            recover(error)
            switch error {
            case .damaged, .lost: break
            case .locked, .full, .unavailable: throw error
            }
        }
        try saveOnce(sids, from: source)
    }

    private func saveOnce(_ sids: [String], from source: any RoomRecordSource) throws(StoreFault) {
        let isFullWrite = needsFullWrite.load(ordering: .relaxed)
        var rooms: [StoredRoom] = []
        var gone: [String] = []
        for sid in isFullWrite ? Set(sids).union(source.roomSIDs()).sorted() : sids {
            guard let record = source.record(of: sid) else {
                gone.append(sid)
                continue
            }
            do {
                rooms.append(try StoredRoom(record))
            } catch {
                // One room that cannot be encoded must not block the others.
                logger.error("a room cannot be written as JSON", metadata: ["room": "\(sid)", "reason": "\(error)"])
            }
        }
        try save(rooms, removing: gone)
        if isFullWrite { needsFullWrite.store(false, ordering: .relaxed) }
    }

    /// Checks whether rooms could be written at this moment.
    ///
    /// - Returns: The fault, and whether all rooms have to be written to a new database; nil when there is no fault.
    func probe() -> (fault: StoreFault, isNew: Bool)? {
        do {
            try opened().store.probe()
            return nil
        } catch {
            recover(error)
            return (error, needsFullWrite.load(ordering: .relaxed))
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
            maximumEnded: configuration.maximumEndedRooms,
            endedSince: Date().timeIntervalSince1970 - configuration.endedRoomRetention
        )
    }

    private func opened() throws(StoreFault) -> RoomDatabase {
        if let open = database.withLock({ $0 }) { return open }
        let fresh = try RoomDatabase(path: configuration.path, lockTimeout: configuration.lockTimeout)
        database.withLock { $0 = fresh }
        return fresh
    }

    /// Closes the database, so that the next use reopens it, and quarantines a damaged one.
    private func recover(_ fault: StoreFault) {
        close()
        if case .lost(let reason) = fault {
            needsFullWrite.store(true, ordering: .relaxed)
            logger.error("stored rooms were deleted or replaced; recreating them", metadata: ["reason": "\(reason)"])
        }
        guard case .damaged(let reason) = fault else { return }
        damaged.add(1, ordering: .relaxed)
        needsFullWrite.store(true, ordering: .relaxed)
        do {
            let quarantined = try QuarantinedDatabase.move(configuration.path, as: "damaged", at: Date())
            logger.error(
                "stored rooms are damaged; quarantined, recreating them",
                metadata: ["reason": "\(reason)", "file": "\(quarantined)"]
            )
        } catch {
            logger.error(
                "stored rooms are damaged and cannot be quarantined",
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
