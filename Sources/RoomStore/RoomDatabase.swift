import GRDB
import SQLiteStore

/// The rooms in SQLite; the one file that knows of it.
///
/// A write-ahead log with a sync at each commit: whatever was saved is there after a crash of the process or of the
/// machine, and what was not is not there in part.
struct RoomDatabase: Sendable {
    let store: StoreDatabase

    /// Opens the database, or makes it, and brings its tables up to date.
    init(path: String, lockTimeout: Double) throws(StoreFault) {
        store = try StoreDatabase(
            path: path,
            label: "rooms",
            durability: .everyCommit,
            lockTimeout: lockTimeout,
            migrations: Self.migrations
        )
    }

    func close() {
        store.close()
    }

    /// Writes and takes away rooms in one transaction, and forgets ended rooms beyond the limits.
    func save(
        _ rooms: [StoredRoom],
        removing gone: [String],
        keptEnded: Int,
        endedSince: Double
    ) throws(StoreFault) {
        try store.write { database in
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

    /// All rooms, in order of the date of their last change.
    func load() throws(StoreFault) -> [StoredRoom] {
        try store.read { database in
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
}
