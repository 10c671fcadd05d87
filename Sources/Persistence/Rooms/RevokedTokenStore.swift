import Dispatch
import Foundation
import GRDB
public import Logging
public import Stage
import Synchronization

/// Stores the list of revoked access tokens in its own SQLite file.
///
/// Every save replaces the whole list, synced, on the store's own queue. A damaged file is quarantined and a new one
/// written from the list that the gateway has in memory.
public final class RevokedTokenStore: RevokedTokenStoring {
    private static let lockTimeout = 0.5

    private let path: String
    private let logger: Logger
    private let connection: StoreConnection<RevokedTokenDatabase>
    /// Serializes all access to the file.
    private let queue = DispatchQueue(label: "footlight.tokens", qos: .utility)
    /// Whether the file may hold entries that could not be read yet; they are read before the list is replaced.
    private let isUnread = Atomic(false)

    /// Creates a store; `load()` or the first change opens the file.
    public init(path: String, logger: Logger) {
        self.path = path
        self.logger = logger
        connection = StoreConnection(path: path, lockTimeout: Self.lockTimeout, logger: logger)
    }

    /// Loads the list of an earlier run; empty, with a log message, when it cannot be read.
    ///
    /// Call it before any token is accepted. Takes as long as the disk does, 2 s at most while the file is locked.
    public func load() -> [RevokedToken] {
        queue.sync {
            do throws(StoreFault) {
                return try connection.load { (database) throws(StoreFault) in try database.load() }
            } catch {
                logger.error(
                    "revoked tokens cannot be read, and are accepted until they can",
                    metadata: ["file": "\(path)", "reason": "\(error.reason)"]
                )
                isUnread.store(true, ordering: .relaxed)
                return []
            }
        }
    }

    /// Replaces the stored list; returns when it is on disk.
    public func save(_ tokens: @escaping @Sendable (_ found: [RevokedToken]) -> [RevokedToken]) async throws {
        try await withCheckedThrowingContinuation { (done: CheckedContinuation<Void, any Error>) in
            queue.async { [self] in
                do throws(StoreFault) {
                    try replace(with: tokens)
                    done.resume()
                } catch {
                    logger.error("revoked tokens cannot be stored", metadata: ["reason": "\(error.reason)"])
                    done.resume(throwing: error)
                }
            }
        }
    }

    /// Checks, on the store's queue, whether the list could be written at this moment.
    ///
    /// Rewrites a file that was deleted, replaced or damaged, and reads one that could not be read at startup.
    ///
    /// - Parameters:
    ///   - tokens: The list, as for `save`.
    ///   - answer: Called on that queue with the problem, or nil.
    public func probe(
        _ tokens: @escaping @Sendable (_ found: [RevokedToken]) -> [RevokedToken],
        _ answer: @escaping @Sendable (_ problem: String?) -> Void
    ) {
        queue.async { [self] in
            do throws(StoreFault) {
                if isUnread.load(ordering: .relaxed) {
                    try replace(with: tokens)
                    logger.notice("revoked tokens were read after an earlier failure", metadata: ["file": "\(path)"])
                } else {
                    try connection.probe()
                }
                answer(nil)
            } catch {
                guard error.isOfFile, (try? replace(with: tokens)) != nil else { return answer(error.reason) }
                answer("\(error.reason); rewritten")
            }
        }
    }

    private func replace(with tokens: ([RevokedToken]) -> [RevokedToken]) throws(StoreFault) {
        var found: [RevokedToken] = []
        try connection.perform { (database) throws(StoreFault) in
            // Entries that could not be read so far.
            if isUnread.load(ordering: .relaxed) {
                found += try database.load()
                isUnread.store(false, ordering: .relaxed)
            }
            try database.replace(with: tokens(found))
        }
    }
}

/// The list of revoked tokens in SQLite.
private struct RevokedTokenDatabase: StoreSchema {
    static let label = "tokens"
    static let content = "revoked tokens"
    static let quarantineWord = "damaged"
    static let adviceOnDamage: String? = "rotate the signing key if any token was leaked"

    let store: StoreDatabase

    /// Replaces the whole list in one transaction.
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
        return migrator
    }
}
