import GRDB
import SQLiteStore

extension OutboxDatabase {
    /// All endpoints, with how many deliveries wait for each, in the order in which they were made.
    func endpoints() throws(StoreFault) -> [(endpoint: WebhookEndpoint, pending: Int)] {
        try store.read { database in
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

    /// Writes endpoints, new or known.
    func save(_ endpoints: [WebhookEndpoint]) throws(StoreFault) {
        try store.write { database in
            for endpoint in endpoints { try Self.save(endpoint, in: database) }
        }
    }

    /// Takes an endpoint away, and all that waits for it.
    func remove(_ id: String) throws(StoreFault) {
        try store.write { try $0.execute(sql: "DELETE FROM endpoint WHERE id = ?", arguments: [id]) }
    }

    static func save(_ health: EndpointHealth, of id: String, in database: Database) throws {
        try database.execute(
            sql: """
                UPDATE endpoint SET failures = ?, failing_since = ?, failed_at = ?, next_try = ?, is_asked = ?, dropped = ?
                WHERE id = ?
                """,
            arguments: [
                health.failures, health.failingSince, health.failedAt, health.nextTry, health.isAsked, health.dropped,
                id,
            ]
        )
    }

    static func save(_ endpoint: WebhookEndpoint, in database: Database) throws {
        let health = endpoint.health
        try database.execute(
            sql: """
                INSERT INTO endpoint (id, url, text, room, types, secret, former_secret, former_until, disabled, created_at,
                updated_at, failures, failing_since, failed_at, next_try, is_asked, dropped)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (id) DO UPDATE SET url = excluded.url, text = excluded.text, room = excluded.room,
                types = excluded.types, secret = excluded.secret, former_secret = excluded.former_secret,
                former_until = excluded.former_until, disabled = excluded.disabled, updated_at = excluded.updated_at,
                failures = excluded.failures, failing_since = excluded.failing_since, failed_at = excluded.failed_at,
                next_try = excluded.next_try, is_asked = excluded.is_asked, dropped = excluded.dropped
                """,
            arguments: [
                endpoint.id, endpoint.address.text, endpoint.text, endpoint.filter.room,
                endpoint.filter.types.joined(separator: " "), endpoint.secret.text, endpoint.former?.secret.text,
                endpoint.former?.until, endpoint.disabled?.rawValue, endpoint.createdAt, endpoint.updatedAt,
                health.failures, health.failingSince, health.failedAt, health.nextTry, health.isAsked, health.dropped,
            ]
        )
    }
}

extension WebhookEndpoint {
    /// Nil for an address or a secret that is none.
    fileprivate init?(_ row: Row) throws {
        let text = try row.decode(String.self, forColumn: "url")
        // Whether plain HTTP is still allowed is asked when something is sent.
        guard let address = try? EndpointAddress(text, allowsPlainHTTP: true),
            let secret = WebhookSecret(try row.decode(forColumn: "secret"))
        else { return nil }
        id = try row.decode(forColumn: "id")
        self.address = address
        self.text = try row.decode(forColumn: "text")
        filter = EventFilter(
            types: try row.decode(String.self, forColumn: "types").split(separator: " ").map(String.init),
            room: try row.decode(forColumn: "room")
        )
        self.secret = secret
        let former = try row.decode(String?.self, forColumn: "former_secret").flatMap { WebhookSecret($0) }
        let until = try row.decode(Double?.self, forColumn: "former_until")
        if let former, let until { self.former = FormerSecret(secret: former, until: until) }
        disabled = try row.decode(String?.self, forColumn: "disabled").flatMap { DisabledReason(rawValue: $0) }
        createdAt = try row.decode(forColumn: "created_at")
        updatedAt = try row.decode(forColumn: "updated_at")
        health.failures = try row.count("failures")
        health.failingSince = try row.decode(forColumn: "failing_since")
        health.failedAt = try row.decode(forColumn: "failed_at")
        health.nextTry = try row.decode(forColumn: "next_try")
        health.isAsked = try row.decode(forColumn: "is_asked")
        health.dropped = try row.count("dropped")
    }
}
