public import FootlightModel
import Foundation
import GRDB
public import Logging
import Synchronization
public import Webhooks

/// Stores webhook endpoints and their pending deliveries in SQLite.
///
/// Uses a write-ahead log with a sync at each commit: committed messages survive a crash of the process or the
/// machine, and are sent afterwards. An operation on a damaged or lost database is repeated on a new one, which gets
/// the known endpoints.
public final class OutboxStore: WebhookStore {
    private let connection: StoreConnection<OutboxDatabase>
    /// Returns the endpoints in memory.
    private let knownEndpoints = Mutex<@Sendable () -> [WebhookEndpoint]>({ [] })

    /// Creates a store; the first operation opens the database.
    ///
    /// - Parameters:
    ///   - path: The database file; SQLite adds two files with the suffixes `-wal` and `-shm`.
    ///   - lockTimeout: Seconds to wait for a lock of another process, per attempt.
    public init(path: String, lockTimeout: Double = 0.5, logger: Logger) {
        connection = StoreConnection(path: path, lockTimeout: lockTimeout, logger: logger)
    }

    /// The number of failed operations, and of databases that were quarantined, deleted or replaced.
    public var faultCounts: (failures: Int, quarantined: Int) {
        let faults = connection.faults
        return (faults.failures, faults.quarantined + faults.lost)
    }

    /// Sets the source of the endpoints to be saved into a database that replaces an unusable one.
    public func setKnownEndpoints(_ source: @escaping @Sendable () -> [WebhookEndpoint]) {
        knownEndpoints.withLock { $0 = source }
    }

    /// Checks whether the database could be written at this moment.
    public func probe() throws {
        try write { _ in }
    }

    /// Closes the database; the next operation reopens it.
    public func close() {
        connection.close()
    }

    private func read<Outcome>(_ body: (Database) throws -> Outcome) throws(StoreFault) -> Outcome {
        try perform { (store) throws(StoreFault) in try store.read(body) }
    }

    private func write<Outcome>(_ body: (Database) throws -> Outcome) throws(StoreFault) -> Outcome {
        try perform { (store) throws(StoreFault) in try store.write(body) }
    }

    private func perform<Outcome>(
        _ body: (StoreDatabase) throws(StoreFault) -> Outcome
    ) throws(StoreFault) -> Outcome {
        try connection.perform { (database) throws(StoreFault) in
            if connection.needsFullWrite {
                let endpoints = knownEndpoints.withLock { $0 }()
                try database.store.write { try Self.save(endpoints, in: $0) }
                connection.fullWriteCompleted()
            }
            return try body(database.store)
        }
    }
}

/// The tables of the webhooks.
struct OutboxDatabase: StoreSchema {
    static let label = "webhooks"
    static let content = "webhooks"
    static let quarantineWord = "aside"

    let store: StoreDatabase

    /// The schema migrations, one per schema version.
    static var migrations: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1 webhooks") { database in
            try database.execute(
                sql: """
                    CREATE TABLE endpoint (
                        id TEXT PRIMARY KEY NOT NULL, url TEXT NOT NULL, text TEXT NOT NULL, room TEXT, types TEXT NOT NULL,
                        secret TEXT NOT NULL, former_secret TEXT, former_until REAL, disabled TEXT,
                        created_at REAL NOT NULL, updated_at REAL NOT NULL, failures INTEGER NOT NULL,
                        failing_since REAL, failed_at REAL, next_try REAL, is_asked INTEGER NOT NULL,
                        dropped INTEGER NOT NULL
                    );
                    CREATE TABLE message (
                        seq INTEGER PRIMARY KEY NOT NULL, id TEXT UNIQUE NOT NULL, type TEXT NOT NULL, room TEXT NOT NULL,
                        at REAL NOT NULL, body BLOB NOT NULL
                    );
                    CREATE TABLE delivery (
                        endpoint TEXT NOT NULL REFERENCES endpoint (id) ON DELETE CASCADE,
                        seq INTEGER NOT NULL REFERENCES message (seq) ON DELETE CASCADE,
                        state TEXT NOT NULL, tries INTEGER NOT NULL, settled_at REAL,
                        PRIMARY KEY (endpoint, seq)
                    ) WITHOUT ROWID;
                    CREATE INDEX delivery_pending ON delivery (endpoint, seq) WHERE state = 'pending';
                    CREATE INDEX delivery_by_message ON delivery (seq);
                    CREATE INDEX delivery_by_end ON delivery (settled_at) WHERE settled_at IS NOT NULL;
                    CREATE TABLE attempt (
                        endpoint TEXT NOT NULL, seq INTEGER NOT NULL, number INTEGER NOT NULL, at REAL NOT NULL,
                        duration REAL NOT NULL, outcome TEXT NOT NULL, status INTEGER, retry_after REAL,
                        PRIMARY KEY (endpoint, seq, number),
                        FOREIGN KEY (endpoint, seq) REFERENCES delivery (endpoint, seq) ON DELETE CASCADE
                    ) WITHOUT ROWID;
                    CREATE TABLE mark (name TEXT PRIMARY KEY NOT NULL, value INTEGER NOT NULL);
                    """
            )
        }
        migrator.registerMigration("2 webhooks of shows") { database in
            try database.execute(sql: "ALTER TABLE endpoint ADD COLUMN show TEXT")
        }
        return migrator
    }
}

extension OutboxStore {
    /// Returns all endpoints with the number of their pending deliveries, in order of creation.
    public func endpoints() throws -> [(endpoint: WebhookEndpoint, pending: Int)] {
        try read { database in
            let rows = try Row.fetchAll(
                database,
                sql: """
                    SELECT *, (SELECT count(*) FROM delivery WHERE endpoint = id AND state = 'pending') AS pending
                    FROM endpoint ORDER BY created_at, id
                    """
            )
            return try rows.compactMap { row in
                guard let endpoint = try WebhookEndpoint(row) else { return nil }
                return (endpoint, try row.decode(forColumn: "pending"))
            }
        }
    }

    /// Inserts or updates endpoints.
    public func save(_ endpoints: [WebhookEndpoint]) throws {
        try write { try Self.save(endpoints, in: $0) }
    }

    /// Deletes an endpoint and its deliveries.
    public func remove(_ id: String) throws {
        try write { try $0.execute(sql: "DELETE FROM endpoint WHERE id = ?", arguments: [id]) }
    }

    private static func save(_ health: EndpointHealth, of id: String, in database: Database) throws {
        try database.execute(
            sql: """
                UPDATE endpoint SET failures = ?, failing_since = ?, failed_at = ?, next_try = ?, is_asked = ?, dropped = ?
                WHERE id = ?
                """,
            arguments: [
                health.failures, health.failingSince, health.failedAt, health.nextTry, health.hasRetryAfter,
                health.dropped,
                id,
            ]
        )
    }

    private static func save(_ endpoints: [WebhookEndpoint], in database: Database) throws {
        for endpoint in endpoints { try save(endpoint, in: database) }
    }

    private static func save(_ endpoint: WebhookEndpoint, in database: Database) throws {
        let health = endpoint.health
        try database.execute(
            sql: """
                INSERT INTO endpoint (id, url, text, room, show, types, secret, former_secret, former_until, disabled,
                created_at, updated_at, failures, failing_since, failed_at, next_try, is_asked, dropped)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (id) DO UPDATE SET url = excluded.url, text = excluded.text, room = excluded.room,
                show = excluded.show, types = excluded.types, secret = excluded.secret, former_secret = excluded.former_secret,
                former_until = excluded.former_until, disabled = excluded.disabled, updated_at = excluded.updated_at,
                failures = excluded.failures, failing_since = excluded.failing_since, failed_at = excluded.failed_at,
                next_try = excluded.next_try, is_asked = excluded.is_asked, dropped = excluded.dropped
                """,
            arguments: [
                endpoint.id, endpoint.address.text, endpoint.text, endpoint.filter.room, endpoint.filter.show,
                endpoint.filter.types.map(\.rawValue).joined(separator: " "), endpoint.secret.text,
                endpoint.former?.secret.text,
                endpoint.former?.until, endpoint.disabled?.rawValue, endpoint.createdAt, endpoint.updatedAt,
                health.failures, health.failingSince, health.failedAt, health.nextTry, health.hasRetryAfter,
                health.dropped,
            ]
        )
    }
}

extension WebhookEndpoint {
    /// Decodes an endpoint; nil if its address or secret is invalid.
    fileprivate init?(_ row: Row) throws {
        let url = try row.decode(String.self, forColumn: "url")
        // Whether plain HTTP is allowed is checked when a message is sent.
        guard let address = try? EndpointAddress(url, allowsPlainHTTP: true),
            let secret = WebhookSecret(try row.decode(forColumn: "secret"))
        else { return nil }
        var health = EndpointHealth()
        health.failures = try row.count("failures")
        health.failingSince = try row.decode(forColumn: "failing_since")
        health.failedAt = try row.decode(forColumn: "failed_at")
        health.nextTry = try row.decode(forColumn: "next_try")
        health.hasRetryAfter = try row.decode(forColumn: "is_asked")
        health.dropped = try row.count("dropped")
        let former = try row.decode(String?.self, forColumn: "former_secret").flatMap { WebhookSecret($0) }
        let until = try row.decode(Double?.self, forColumn: "former_until")
        try self.init(
            id: row.decode(forColumn: "id"),
            address: address,
            text: row.decode(forColumn: "text"),
            filter: EventFilter(
                types: row.decode(String.self, forColumn: "types").split(separator: " ").map {
                    .init(rawValue: String($0))
                },
                room: row.decode(forColumn: "room"),
                show: row.decode(forColumn: "show")
            ),
            secret: secret,
            former: former.flatMap { secret in until.map { FormerSecret(secret: secret, until: $0) } },
            disabled: row.decode(String?.self, forColumn: "disabled").flatMap { WebhookDisabledReason(rawValue: $0) },
            createdAt: row.decode(forColumn: "created_at"),
            updatedAt: row.decode(forColumn: "updated_at"),
            health: health
        )
    }
}

extension OutboxStore {
    /// The limit of valid sequence numbers, above the milliseconds since 1970 in ten thousand years; higher ones are
    /// corrupt and are not continued.
    private static let lastSequence: Int64 = 1 << 50

    /// The number of attempts stored per delivery.
    private static let attemptLimit = 20

    /// Appends messages in order, in one transaction, with a delivery for each existing recipient.
    ///
    /// - Parameter now: Seconds since 1970. A sequence number is the milliseconds since 1970, or one more than the
    ///   last, whichever is higher, so that it increases even if a database was lost.
    public func append(_ messages: [OutboxMessage], now: Double) throws {
        try write { database in
            var sequence = try Int64.fetchOne(database, sql: "SELECT max(seq) FROM message") ?? 0
            sequence = max(min(sequence, Self.lastSequence), Int64(now * 1000))
            for message in messages {
                if let mark = message.mark {
                    try database.execute(
                        sql: "INSERT INTO mark (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = ?",
                        arguments: [mark.name, mark.value, mark.value]
                    )
                }
                guard !message.recipients.isEmpty else { continue }
                sequence += 1
                try database.execute(
                    sql: """
                        INSERT INTO message (seq, id, type, room, at, body) VALUES (?, ?, ?, ?, ?, ?)
                        ON CONFLICT (id) DO NOTHING
                        """,
                    arguments: [
                        sequence, message.id, message.type.rawValue, message.room, message.at,
                        message.body(sequence: sequence),
                    ]
                )
                guard database.changesCount > 0 else { continue }
                for recipient in message.recipients {
                    try database.execute(
                        sql: """
                            INSERT INTO delivery (endpoint, seq, state, tries)
                            SELECT id, ?, 'pending', 0 FROM endpoint WHERE id = ?
                            """,
                        arguments: [sequence, recipient]
                    )
                }
            }
        }
    }

    /// Returns the oldest pending delivery of an endpoint; nil if there is none.
    public func head(of endpoint: String) throws -> PendingDelivery? {
        try read { database in
            let row = try Row.fetchOne(
                database,
                sql: """
                    SELECT seq, id, body, tries FROM delivery JOIN message USING (seq)
                    WHERE endpoint = ? AND state = 'pending' ORDER BY seq LIMIT 1
                    """,
                arguments: [endpoint]
            )
            return try row.map { row in
                PendingDelivery(
                    sequence: try row.decode(forColumn: "seq"),
                    messageID: try row.decode(forColumn: "id"),
                    body: [UInt8](try row.decode(Data.self, forColumn: "body")),
                    tries: try row.count("tries")
                )
            }
        }
    }

    /// Stores the result of an attempt and the endpoint's health; a disabled endpoint loses its pending deliveries.
    public func settle(
        _ sequence: Int64,
        of endpoint: WebhookEndpoint,
        as state: WebhookDeliveryState,
        after attempt: DeliveryAttempt
    ) throws {
        try write { database in
            let end = attempt.at + attempt.duration
            try database.execute(
                sql: "UPDATE delivery SET state = ?, tries = ?, settled_at = ? WHERE endpoint = ? AND seq = ?",
                arguments: [state.rawValue, attempt.number, state == .pending ? nil : end, endpoint.id, sequence]
            )
            // The endpoint may have been deleted while the message was being sent.
            guard database.changesCount > 0 else { return }
            try database.execute(
                sql: """
                    INSERT OR REPLACE INTO attempt (endpoint, seq, number, at, duration, outcome, status, retry_after)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                    """,
                arguments: [
                    endpoint.id, sequence, attempt.number, attempt.at, attempt.duration, attempt.outcome.kind.rawValue,
                    attempt.outcome.status, attempt.outcome.retryAfter,
                ]
            )
            try database.execute(
                sql: "DELETE FROM attempt WHERE endpoint = ? AND seq = ? AND number <= ?",
                arguments: [endpoint.id, sequence, attempt.number - Self.attemptLimit]
            )
            // Only the health, because an operator may have changed other columns meanwhile.
            try Self.save(endpoint.health, of: endpoint.id, in: database)
            guard let reason = endpoint.disabled else { return }
            try database.execute(
                sql: "UPDATE endpoint SET disabled = ?, updated_at = ? WHERE id = ?",
                arguments: [reason.rawValue, endpoint.updatedAt, endpoint.id]
            )
            try Self.giveUp(endpoint.id, at: end, in: database)
        }
    }

    /// Stores a disabled endpoint, and fails its pending deliveries.
    public func disable(_ endpoint: WebhookEndpoint, at now: Double) throws {
        try write { database in
            try Self.save(endpoint, in: database)
            try Self.giveUp(endpoint.id, at: now, in: database)
        }
    }

    /// Fails the oldest pending deliveries of an endpoint beyond a limit.
    ///
    /// - Returns: The number of failed deliveries.
    public func drop(beyond limit: Int, of endpoint: String, at now: Double) throws -> Int {
        try write { database in
            try database.execute(
                sql: """
                    UPDATE delivery SET state = 'failed', settled_at = ? WHERE endpoint = ? AND state = 'pending' AND seq <= (
                        SELECT seq FROM delivery WHERE endpoint = ? AND state = 'pending' ORDER BY seq DESC LIMIT 1 OFFSET ?
                    )
                    """,
                arguments: [now, endpoint, endpoint, limit]
            )
            return database.changesCount
        }
    }

    /// Deletes deliveries that were settled before a time, and messages without deliveries.
    public func deleteSettled(settledBefore: Double) throws {
        try write { database in
            try database.execute(sql: "DELETE FROM delivery WHERE settled_at < ?", arguments: [settledBefore])
            try database.execute(
                sql: """
                    DELETE FROM message WHERE NOT EXISTS (SELECT 1 FROM delivery WHERE delivery.seq = message.seq)
                    AND seq < (SELECT max(seq) FROM message)
                    """
            )
        }
    }

    /// Returns the value of a mark; nil if none was stored.
    public func mark(_ name: String) throws -> Int64? {
        try read { try Int64.fetchOne($0, sql: "SELECT value FROM mark WHERE name = ?", arguments: [name]) }
    }

    private static func giveUp(_ endpoint: String, at now: Double, in database: Database) throws {
        try database.execute(
            sql: "UPDATE delivery SET state = 'failed', settled_at = ? WHERE endpoint = ? AND state = 'pending'",
            arguments: [now, endpoint]
        )
    }
}

extension OutboxStore {
    /// Returns the deliveries of an endpoint, latest first.
    ///
    /// - Parameter before: Returns deliveries with a lower sequence number; nil to start with the latest.
    public func deliveries(of endpoint: String, before: Int64?, limit: Int) throws -> [DeliveryRecord] {
        try read { database in
            let rows = try Row.fetchAll(
                database,
                sql: """
                    SELECT seq, id, type, room, at, state, tries FROM delivery JOIN message USING (seq)
                    WHERE endpoint = ? AND seq < ? ORDER BY seq DESC LIMIT ?
                    """,
                arguments: [endpoint, before ?? .max, limit]
            )
            return try rows.map { row in
                var record = try DeliveryRecord(row)
                record.attempts = try Row.fetchAll(
                    database,
                    sql: "SELECT * FROM attempt WHERE endpoint = ? AND seq = ? ORDER BY number",
                    arguments: [endpoint, record.sequence]
                ).map { try DeliveryAttempt($0) }
                return record
            }
        }
    }
}

extension Row {
    /// Decodes a counter, clamped so that it is not negative and can be incremented.
    func count(_ column: String) throws -> Int {
        Swift.min(Swift.max(try decode(forColumn: column), 0), 1 << 50)
    }
}

extension DeliveryRecord {
    fileprivate init(_ row: Row) throws {
        try self.init(
            sequence: row.decode(forColumn: "seq"),
            messageID: row.decode(forColumn: "id"),
            type: WireEnum(rawValue: row.decode(forColumn: "type")),
            room: row.decode(forColumn: "room"),
            at: row.decode(forColumn: "at"),
            state: WebhookDeliveryState(rawValue: row.decode(forColumn: "state")) ?? .failed,
            tries: row.count("tries"),
            attempts: []
        )
    }
}

extension DeliveryAttempt {
    fileprivate init(_ row: Row) throws {
        var outcome = DeliveryOutcome(
            WebhookAttemptOutcome(rawValue: try row.decode(forColumn: "outcome")) ?? .unreachable
        )
        outcome.status = try row.decode(forColumn: "status")
        outcome.retryAfter = try row.decode(forColumn: "retry_after")
        try self.init(
            number: row.count("number"),
            at: row.decode(forColumn: "at"),
            duration: row.decode(forColumn: "duration"),
            outcome: outcome
        )
    }
}
