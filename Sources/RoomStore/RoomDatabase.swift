import Foundation
import GRDB

/// The rooms in SQLite; the one file that knows of it.
///
/// A write-ahead log with a sync at each commit: whatever was saved is there after a crash of the process or of the
/// machine, and what was not is not there in part.
struct RoomDatabase: Sendable {
    let queue: DatabaseQueue

    /// Opens the database, or makes it, and brings its tables up to date.
    init(path: String, lockTimeout: Double) throws(StoreFault) {
        queue = try Self.translated(isOpen: false) {
            var configuration = Configuration()
            configuration.journalMode = .wal
            configuration.busyMode = .timeout(lockTimeout)
            configuration.label = "rooms"
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            try queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
            return queue
        }
        let queue = queue
        try Self.translated {
            try Self.check(queue)
            try Self.migrations.migrate(queue)
        }
    }

    func close() {
        // What was saved is on disk already; closing only tidies up.
        try? queue.close()
    }

    /// Writes and takes away rooms in one transaction, and forgets ended rooms beyond the limits.
    func save(
        _ rooms: [StoredRoom],
        removing gone: [String],
        keptEnded: Int,
        endedSince: Double
    ) throws(StoreFault) {
        try Self.translated {
            try queue.write { database in
                for room in rooms { try Self.save(room, in: database) }
                for sid in gone { try database.execute(sql: "DELETE FROM room WHERE sid = ?", arguments: [sid]) }
                guard rooms.contains(where: { $0.endedAt != nil }) else { return }
                try database.execute(
                    sql: """
                        DELETE FROM room WHERE ended_at IS NOT NULL AND (ended_at < ? OR sid NOT IN (
                            SELECT sid FROM room WHERE ended_at IS NOT NULL ORDER BY ended_at DESC, sid LIMIT ?
                        ))
                        """,
                    arguments: [endedSince, keptEnded]
                )
            }
        }
    }

    /// All rooms, in order of the date of their last change.
    func load() throws(StoreFault) -> [StoredRoom] {
        try Self.translated {
            try queue.read { database in
                let rows = try Row.fetchAll(
                    database,
                    sql: "SELECT sid, name, status, updated_at, ended_at, record FROM room ORDER BY updated_at, sid"
                )
                return try rows.map { row in
                    try StoredRoom(
                        sid: row.decode(forColumn: "sid"),
                        name: row.decode(forColumn: "name"),
                        status: row.decode(forColumn: "status"),
                        updatedAt: row.decode(forColumn: "updated_at"),
                        endedAt: row.decode(forColumn: "ended_at"),
                        record: row.decode(forColumn: "record")
                    )
                }
            }
        }
    }

    private static func save(_ room: StoredRoom, in database: Database) throws {
        try database.execute(
            sql: """
                INSERT INTO room (sid, name, status, updated_at, ended_at, record) VALUES (?, ?, ?, ?, ?, ?)
                ON CONFLICT (sid) DO UPDATE SET name = excluded.name, status = excluded.status,
                updated_at = excluded.updated_at, ended_at = excluded.ended_at, record = excluded.record
                """,
            arguments: [room.sid, room.name, room.status, room.updatedAt, room.endedAt, room.record]
        )
    }

    // MARK: The shape

    /// The tables, a step for every version there ever was.
    private static var migrations: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1 rooms") { database in
            try database.execute(
                sql: """
                    CREATE TABLE room (
                        sid TEXT PRIMARY KEY NOT NULL,
                        name TEXT NOT NULL,
                        status TEXT NOT NULL,
                        updated_at REAL NOT NULL,
                        ended_at REAL,
                        record TEXT NOT NULL
                    );
                    CREATE INDEX room_by_end ON room (ended_at) WHERE ended_at IS NOT NULL;
                    """
            )
        }
        return migrator
    }

    /// Refuses a file whose pages do not fit together, and one that a later version has changed.
    private static func check(_ queue: DatabaseQueue) throws {
        try queue.read { database in
            let finding = try String.fetchOne(database, sql: "PRAGMA quick_check(1)") ?? "no answer"
            guard finding == "ok" else { throw StoreFault.damaged(finding) }
            if try migrations.hasBeenSuperseded(database) {
                throw StoreFault.damaged("written by a later version")
            }
        }
    }

    /// - Parameter isOpen: Whether an error in a statement means that the tables are not ours, rather than that the place
    ///   is not good for a database.
    private static func translated<Outcome>(
        isOpen: Bool = true,
        _ body: () throws -> Outcome
    ) throws(StoreFault) -> Outcome {
        do {
            return try body()
        } catch let fault as StoreFault {
            throw fault
        } catch let error as DatabaseError {
            let reason = "\(error.extendedResultCode): \(error.message ?? "no message")"
            switch error.resultCode {
            case .SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_FORMAT, .SQLITE_MISMATCH: throw .damaged(reason)
            case .SQLITE_ERROR where isOpen: throw .damaged(reason)
            default: throw .unavailable(reason)
            }
        } catch let error as RowDecodingError {
            throw .damaged("\(error)")
        } catch {
            throw .unavailable("\(error)")
        }
    }
}
