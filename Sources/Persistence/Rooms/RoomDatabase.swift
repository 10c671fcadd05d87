import Foundation
import GRDB
import Stage

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
    func save(
        _ rooms: [StoredRoom],
        removing gone: [String],
        maximumEnded: Int,
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
                arguments: [endedSince, maximumEnded]
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

/// One row of the `room` table.
struct StoredRoom: Sendable, Equatable {
    var sid: String
    var name: String
    var status: String
    /// Seconds since 1970.
    var updatedAt: Double
    /// Seconds since 1970; nil while in progress.
    var endedAt: Double?
    /// The `RoomRecord` as JSON.
    var record: String
}

extension StoredRoom {
    init(_ record: RoomRecord) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        self.init(
            sid: record.sid,
            name: record.settings.name,
            status: record.status.rawValue,
            updatedAt: record.updatedAt,
            endedAt: record.endedAt,
            record: String(decoding: try encoder.encode(record), as: UTF8.self)
        )
    }

    func decoded() throws -> RoomRecord {
        let room = try JSONDecoder().decode(RoomRecord.self, from: Data(record.utf8))
        try room.validate()
        return room
    }
}
