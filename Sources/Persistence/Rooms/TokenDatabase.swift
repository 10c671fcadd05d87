import GRDB
import Stage

/// The lists of revoked and of issued tokens in SQLite.
struct TokenDatabase: StoreSchema {
    static let label = "tokens"
    static let content = "tokens"
    static let quarantineWord = "damaged"
    static let adviceOnDamage: String? = "rotate the signing key if any token was leaked"

    let store: StoreDatabase

    /// Replaces the whole list of revoked tokens in one transaction.
    func replace(with tokens: [RevokedToken]) throws(StoreFault) {
        try store.write { database in
            try database.execute(sql: "DELETE FROM revoked_token")
            let insert = try database.makeStatement(
                sql: """
                    INSERT INTO revoked_token (id, identity, role, revoked_at, revoked_by, expires_at)
                    VALUES (?, ?, ?, ?, ?, ?)
                    """
            )
            for token in tokens {
                try insert.execute(
                    arguments: [
                        token.id, token.identity, token.role, token.revokedAt, token.revokedBy, token.expiresAt,
                    ]
                )
            }
        }
    }

    func load() throws(StoreFault) -> [RevokedToken] {
        try store.read { database in
            let sql = "SELECT id, identity, role, revoked_at, revoked_by, expires_at FROM revoked_token"
            return try Row.fetchAll(database, sql: sql).map { row in
                try RevokedToken(
                    id: row.decode(forColumn: "id"),
                    identity: row.decode(forColumn: "identity"),
                    role: row.decode(forColumn: "role"),
                    revokedAt: row.decode(forColumn: "revoked_at"),
                    revokedBy: row.decode(forColumn: "revoked_by"),
                    expiresAt: row.decode(forColumn: "expires_at")
                )
            }
        }
    }

    /// Adds issued tokens, and removes those that have expired, and those that expire first beyond the capacity.
    func add(_ tokens: [IssuedToken], capacity: Int, now: Double) throws(StoreFault) {
        try store.write { database in
            let insert = try database.makeStatement(
                sql: """
                    INSERT OR REPLACE INTO issued_token (id, identity, role, room, issued_at, issued_by, expires_at)
                    VALUES (?, ?, ?, ?, ?, ?, ?)
                    """
            )
            for token in tokens {
                try insert.execute(
                    arguments: [
                        token.id, token.identity, token.role, token.room, token.issuedAt, token.issuedBy,
                        token.expiresAt,
                    ]
                )
            }
            try database.execute(sql: "DELETE FROM issued_token WHERE expires_at <= ?", arguments: [now])
            let count = try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM issued_token") ?? 0
            guard count > capacity else { return }
            try database.execute(
                sql: "DELETE FROM issued_token WHERE id IN (SELECT id FROM issued_token ORDER BY expires_at LIMIT ?)",
                arguments: [count - capacity]
            )
        }
    }

    /// Returns the issued tokens that expire after a time, the latest made first.
    func issued(after time: Double) throws(StoreFault) -> [IssuedToken] {
        try store.read { database in
            let sql = """
                SELECT id, identity, role, room, issued_at, issued_by, expires_at FROM issued_token
                WHERE expires_at > ? ORDER BY issued_at DESC, id
                """
            return try Row.fetchAll(database, sql: sql, arguments: [time]).map { row in
                try IssuedToken(
                    id: row.decode(forColumn: "id"),
                    identity: row.decode(forColumn: "identity"),
                    role: row.decode(forColumn: "role"),
                    room: row.decode(forColumn: "room"),
                    issuedAt: row.decode(forColumn: "issued_at"),
                    issuedBy: row.decode(forColumn: "issued_by"),
                    expiresAt: row.decode(forColumn: "expires_at")
                )
            }
        }
    }

    /// The schema, with one migration per version.
    static var migrations: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1 revoked tokens") { database in
            try database.execute(
                sql: """
                    CREATE TABLE revoked_token (
                        id TEXT PRIMARY KEY NOT NULL,
                        identity TEXT,
                        role TEXT,
                        revoked_at REAL NOT NULL,
                        revoked_by TEXT NOT NULL,
                        expires_at REAL NOT NULL
                    );
                    """
            )
        }
        migrator.registerMigration("2 issued tokens") { database in
            try database.execute(
                sql: """
                    CREATE TABLE issued_token (
                        id TEXT PRIMARY KEY NOT NULL,
                        identity TEXT NOT NULL,
                        role TEXT NOT NULL,
                        room TEXT,
                        issued_at REAL NOT NULL,
                        issued_by TEXT NOT NULL,
                        expires_at REAL NOT NULL
                    );
                    CREATE INDEX issued_token_expiry ON issued_token (expires_at);
                    """
            )
        }
        return migrator
    }
}
