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
    /// - Returns: Whether the database is another one than before, because the old one was damaged.
    func save(_ sids: [String], from source: any RoomRecordSource) throws(StoreFault) -> Bool {
        var rooms: [StoredRoom] = []
        var gone: [String] = []
        for sid in sids {
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
        do {
            try save(rooms, removing: gone)
            return false
        } catch {
            reactTo(error)
            guard case .damaged = error else { throw error }
        }
        try save(rooms, removing: gone)
        return true
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
        guard case .damaged(let reason) = fault else { return }
        damaged.add(1, ordering: .relaxed)
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
