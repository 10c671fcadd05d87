import GRDB

/// The rooms in SQLite.
///
/// The write-ahead log is synced at each commit: a crash of the process or of the machine keeps every committed
/// transaction and no part of any other.
struct RoomDatabase: StoreSchema {
    static let label = "rooms"
    static let content = "rooms"
    static let quarantineWord = "damaged"

    let store: StoreDatabase

    /// Writes and deletes rooms in one transaction, and deletes ended rooms beyond the limits.
    func save(_ changes: RoomChanges) throws(StoreFault) {
        try store.write { database in
            for room in changes.rooms { try Self.save(room, in: database) }
            for sid in changes.removed { try database.execute(sql: "DELETE FROM room WHERE sid = ?", arguments: [sid]) }
            guard changes.rooms.contains(where: { $0.endedAt != nil }) else { return }
            try database.execute(
                sql: """
                    DELETE FROM room WHERE ended_at IS NOT NULL AND (ended_at < ? OR sid NOT IN (
                        SELECT sid FROM room WHERE ended_at IS NOT NULL ORDER BY ended_at DESC, sid LIMIT ?
                    ))
                    """,
                arguments: [changes.endedSince, changes.maximumEnded]
            )
        }
    }

    /// Loads all rooms, ordered by the date of their last change.
    func load() throws(StoreFault) -> [StoredRoom] {
        try store.read { database in
            let rows = try Row.fetchAll(
                database,
                sql: "SELECT sid, name, status, updated_at, ended_at, record FROM room ORDER BY updated_at, sid"
            )
            return try rows.map { try StoredRoom($0) }
        }
    }

    /// Loads a room; nil if it is not stored.
    func load(_ sid: String) throws(StoreFault) -> StoredRoom? {
        try store.read { database in
            let row = try Row.fetchOne(
                database,
                sql: "SELECT sid, name, status, updated_at, ended_at, record FROM room WHERE sid = ?",
                arguments: [sid]
            )
            return try row.map { try StoredRoom($0) }
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

    // MARK: Schema

    /// The schema, with one migration per version.
    static var migrations: DatabaseMigrator {
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

extension StoredRoom {
    fileprivate init(_ row: Row) throws {
        try self.init(
            sid: row.decode(forColumn: "sid"),
            name: row.decode(forColumn: "name"),
            status: row.decode(forColumn: "status"),
            updatedAt: row.decode(forColumn: "updated_at"),
            endedAt: row.decode(forColumn: "ended_at"),
            record: row.decode(forColumn: "record")
        )
    }
}
