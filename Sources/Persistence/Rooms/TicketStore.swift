public import Admission
import Dispatch
import Foundation
import GRDB
public import Logging

/// Stores tickets in an SQLite file of their own.
///
/// Writes are synced, one transaction each, on the store's own queue. A damaged file is quarantined; its tickets are
/// lost, as their holders' links then say.
public final class TicketStore: TicketStoring {
    private static let lockTimeout = 0.5

    private let path: String
    private let logger: Logger
    private let connection: StoreConnection<TicketDatabase>
    /// Serializes all access to the file.
    private let queue = DispatchQueue(label: "footlight.tickets", qos: .utility)

    /// Creates a store; `load()` or the first change opens the file.
    public init(path: String, logger: Logger) {
        self.path = path
        self.logger = logger
        connection = StoreConnection(path: path, lockTimeout: Self.lockTimeout, logger: logger)
    }

    /// Loads all tickets; empty, with a log message, when they cannot be read.
    ///
    /// Call it before anyone is admitted. Takes as long as the disk does, 2 s at most while the file is locked.
    public func load() -> [Ticket] {
        queue.sync {
            do throws(StoreFault) {
                return try connection.load { (database) throws(StoreFault) in try database.load() }
            } catch {
                logger.error(
                    "tickets cannot be read, and admit nobody",
                    metadata: ["file": "\(path)", "reason": "\(error.reason)"]
                )
                return []
            }
        }
    }

    /// Writes tickets, new or changed, and deletes others by id; returns when that is on disk.
    public func save(_ tickets: [Ticket], removing gone: [String]) async throws {
        try await withCheckedThrowingContinuation { (done: CheckedContinuation<Void, any Error>) in
            queue.async { [self] in
                do throws(StoreFault) {
                    try connection.perform { (database) throws(StoreFault) in
                        try database.save(tickets, removing: gone)
                    }
                    done.resume()
                } catch {
                    logger.error("tickets cannot be stored", metadata: ["reason": "\(error.reason)"])
                    done.resume(throwing: error)
                }
            }
        }
    }

    /// Checks, on the store's queue, whether tickets could be written at this moment.
    ///
    /// - Parameter answer: Called on that queue with the problem, or nil.
    public func probe(_ answer: @escaping @Sendable (_ problem: String?) -> Void) {
        queue.async { [self] in
            do throws(StoreFault) {
                try connection.probe()
                answer(nil)
            } catch {
                answer(error.reason)
            }
        }
    }
}

/// The tickets in SQLite.
private struct TicketDatabase: StoreSchema {
    static let label = "tickets"
    static let content = "tickets"
    static let quarantineWord = "damaged"

    let store: StoreDatabase

    func save(_ tickets: [Ticket], removing gone: [String]) throws(StoreFault) {
        try store.write { database in
            let insert = try database.makeStatement(
                sql: """
                    INSERT INTO ticket (id, number, room, name, devices, starts_at, expires_at, created_at, revoked_at)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                    ON CONFLICT (id) DO UPDATE SET revoked_at = excluded.revoked_at
                    """
            )
            for ticket in tickets {
                try insert.execute(
                    arguments: [
                        ticket.id, ticket.number, ticket.room, ticket.name, ticket.devices, ticket.startsAt,
                        ticket.expiresAt, ticket.createdAt, ticket.revokedAt,
                    ]
                )
            }
            for id in gone { try database.execute(sql: "DELETE FROM ticket WHERE id = ?", arguments: [id]) }
        }
    }

    func load() throws(StoreFault) -> [Ticket] {
        try store.read { database in
            let sql = """
                SELECT id, number, room, name, devices, starts_at, expires_at, created_at, revoked_at FROM ticket
                ORDER BY created_at, id LIMIT \(AudienceGate.ticketLimit)
                """
            return try Row.fetchAll(database, sql: sql).map { row in
                try Ticket(
                    id: row.decode(forColumn: "id"),
                    number: row.decode(forColumn: "number"),
                    room: row.decode(forColumn: "room"),
                    name: row.decode(forColumn: "name"),
                    devices: row.decode(forColumn: "devices"),
                    startsAt: row.decode(forColumn: "starts_at"),
                    expiresAt: row.decode(forColumn: "expires_at"),
                    createdAt: row.decode(forColumn: "created_at"),
                    revokedAt: row.decode(forColumn: "revoked_at")
                )
            }
        }
    }

    /// The schema, with one migration per version.
    static var migrations: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1 tickets") { database in
            try database.execute(
                sql: """
                    CREATE TABLE ticket (
                        id TEXT PRIMARY KEY NOT NULL,
                        number INTEGER NOT NULL,
                        room TEXT NOT NULL,
                        name TEXT NOT NULL,
                        devices INTEGER NOT NULL,
                        starts_at REAL,
                        expires_at REAL NOT NULL,
                        created_at REAL NOT NULL,
                        revoked_at REAL,
                        UNIQUE (room, number)
                    );
                    """
            )
        }
        return migrator
    }
}
