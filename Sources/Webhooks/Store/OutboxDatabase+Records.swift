import GRDB
import SQLiteStore

extension OutboxDatabase {
    /// What became of the messages to an endpoint, the latest first.
    ///
    /// - Parameter before: The number of the message behind which the list goes on; nil for its beginning.
    func deliveries(of endpoint: String, before: Int64?, limit: Int) throws(StoreFault) -> [DeliveryRecord] {
        try store.read { database in
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
    /// How often something happened: never less than zero, nor so often that one more time would be too much.
    func count(_ column: String) throws -> Int {
        Swift.min(Swift.max(try decode(forColumn: column), 0), 1 << 50)
    }
}

extension DeliveryRecord {
    fileprivate init(_ row: Row) throws {
        try self.init(
            sequence: row.decode(forColumn: "seq"),
            messageID: row.decode(forColumn: "id"),
            type: row.decode(forColumn: "type"),
            room: row.decode(forColumn: "room"),
            at: row.decode(forColumn: "at"),
            state: State(rawValue: row.decode(forColumn: "state")) ?? .failed,
            tries: row.count("tries"),
            attempts: []
        )
    }
}

extension DeliveryAttempt {
    fileprivate init(_ row: Row) throws {
        var outcome = DeliveryOutcome(
            DeliveryOutcome.Kind(rawValue: try row.decode(forColumn: "outcome")) ?? .unreachable
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
