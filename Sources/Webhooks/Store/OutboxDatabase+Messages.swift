import Foundation
import GRDB
import SQLiteStore

extension OutboxDatabase {
    /// The oldest delivery that waits for an endpoint.
    struct Head: Sendable {
        let sequence: Int64
        let messageID: String
        let body: [UInt8]
        let tries: Int
    }

    /// Higher than the milliseconds since 1970 in ten thousand years; a number beyond it is damage, and is not counted on
    /// from.
    private static let lastSequence: Int64 = 1 << 50

    /// Tries of a delivery that are kept for looking at.
    private static let keptAttempts = 20

    /// Writes messages in their order, in one transaction, and a delivery for each recipient that is still there.
    ///
    /// - Parameter now: Seconds since 1970. The numbers of messages are milliseconds since then where that makes them
    ///   higher than the last one's, so that they rise even after a database was lost.
    func append(_ messages: [OutboxMessage], now: Double) throws(StoreFault) {
        try store.write { database in
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
                    sql: "INSERT INTO message (seq, id, type, room, at, body) VALUES (?, ?, ?, ?, ?, ?)",
                    arguments: [
                        sequence, message.id, message.type, message.room, message.at, message.body(sequence: sequence),
                    ]
                )
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

    /// The oldest delivery that waits for an endpoint; nil when none does.
    func head(of endpoint: String) throws(StoreFault) -> Head? {
        try store.read { database in
            let row = try Row.fetchOne(
                database,
                sql: """
                    SELECT seq, id, body, tries FROM delivery JOIN message USING (seq)
                    WHERE endpoint = ? AND state = 'pending' ORDER BY seq LIMIT 1
                    """,
                arguments: [endpoint]
            )
            return try row.map { row in
                Head(
                    sequence: try row.decode(forColumn: "seq"),
                    messageID: try row.decode(forColumn: "id"),
                    body: [UInt8](try row.decode(Data.self, forColumn: "body")),
                    tries: try row.count("tries")
                )
            }
        }
    }

    /// Writes down what came of a try, and how the endpoint is now; all that waits for one that is off is given up.
    func settle(
        _ sequence: Int64,
        of endpoint: WebhookEndpoint,
        as state: DeliveryRecord.State,
        after attempt: DeliveryAttempt
    ) throws(StoreFault) {
        try store.write { database in
            let end = attempt.at + attempt.duration
            try database.execute(
                sql: "UPDATE delivery SET state = ?, tries = ?, settled_at = ? WHERE endpoint = ? AND seq = ?",
                arguments: [state.rawValue, attempt.number, state == .pending ? nil : end, endpoint.id, sequence]
            )
            // The endpoint may have been taken away while the message was under way.
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
                arguments: [endpoint.id, sequence, attempt.number - Self.keptAttempts]
            )
            // The health alone: an operator may have changed the rest meanwhile.
            try Self.save(endpoint.health, of: endpoint.id, in: database)
            guard let reason = endpoint.disabled else { return }
            try database.execute(
                sql: "UPDATE endpoint SET disabled = ?, updated_at = ? WHERE id = ?",
                arguments: [reason.rawValue, endpoint.updatedAt, endpoint.id]
            )
            try Self.giveUp(endpoint.id, at: end, in: database)
        }
    }

    /// Writes an endpoint that was turned off, and gives up all that waits for it.
    func disable(_ endpoint: WebhookEndpoint, at now: Double) throws(StoreFault) {
        try store.write { database in
            try Self.save(endpoint, in: database)
            try Self.giveUp(endpoint.id, at: now, in: database)
        }
    }

    /// Gives up the oldest deliveries of an endpoint for which more wait than may.
    ///
    /// - Returns: How many.
    func drop(beyond limit: Int, of endpoint: String, at now: Double) throws(StoreFault) -> Int {
        try store.write { database in
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

    /// Deletes what was settled long ago.
    func forget(settledBefore: Double) throws(StoreFault) {
        try store.write { database in
            try database.execute(sql: "DELETE FROM delivery WHERE settled_at < ?", arguments: [settledBefore])
            try database.execute(
                sql: """
                    DELETE FROM message WHERE NOT EXISTS (SELECT 1 FROM delivery WHERE delivery.seq = message.seq)
                    AND seq < (SELECT max(seq) FROM message)
                    """
            )
        }
    }

    /// The value that was stored with an event; nil when none was.
    func mark(_ name: String) throws(StoreFault) -> Int64? {
        try store.read { try Int64.fetchOne($0, sql: "SELECT value FROM mark WHERE name = ?", arguments: [name]) }
    }

    private static func giveUp(_ endpoint: String, at now: Double, in database: Database) throws {
        try database.execute(
            sql: "UPDATE delivery SET state = 'failed', settled_at = ? WHERE endpoint = ? AND state = 'pending'",
            arguments: [now, endpoint]
        )
    }
}
