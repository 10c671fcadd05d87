import Dispatch
import Foundation
import GRDB
public import Logging
import SQLiteStore
public import Stage
import Synchronization

/// Keeps the list of revoked access tokens in a SQLite file of its own.
///
/// The list is written as a whole, synced, on a queue of its own. A file that is damaged is put aside and another one
/// written from what the gateway knows.
public final class RevokedTokenStore: RevokedTokenStoring {
    private static let lockTimeout = 0.5

    private let path: String
    private let logger: Logger
    /// Where the file is used, one thing at a time.
    private let queue = DispatchQueue(label: "footlight.tokens", qos: .utility)
    private let database = Mutex<StoreDatabase?>(nil)
    /// The file may hold entries that could not be read: they are read before anything is written in their place.
    private let isUnread = Atomic(false)

    /// Makes a store; nothing is opened before `load()` or the first change.
    public init(path: String, logger: Logger) {
        self.path = path
        self.logger = logger
    }

    /// The list of an earlier run; empty when there is none that can be read, which the log says then.
    ///
    /// To be called before anybody is let in. Takes as long as the disk does, 2 s at most while the file is locked.
    public func load() -> [RevokedToken] {
        queue.sync {
            var reason = ""
            // A second try for a file that was damaged, and one more for one that was locked by who is just leaving.
            for _ in 0..<3 {
                do throws(StoreFault) {
                    return try read()
                } catch {
                    reason = error.reason
                    recover(from: error)
                }
            }
            logger.error(
                "revoked tokens cannot be read, and are accepted until they can",
                metadata: ["file": "\(path)", "reason": "\(reason)"]
            )
            isUnread.store(true, ordering: .relaxed)
            return []
        }
    }

    /// Writes the whole list in place of the one before; returns when it is on disk.
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

    /// Finds out, on the store's queue, whether the list could be written at this moment.
    ///
    /// A file that was deleted, replaced or damaged meanwhile is written anew, and one that could not be read at the start
    /// is read.
    ///
    /// - Parameters:
    ///   - tokens: The list, as for `save`.
    ///   - answer: Called on that queue with what is wrong, nil for nothing.
    public func probe(
        _ tokens: @escaping @Sendable (_ found: [RevokedToken]) -> [RevokedToken],
        _ answer: @escaping @Sendable (_ problem: String?) -> Void
    ) {
        queue.async { [self] in
            do throws(StoreFault) {
                if isUnread.load(ordering: .relaxed) {
                    try replace(with: tokens)
                    logger.notice("revoked tokens could be read after all", metadata: ["file": "\(path)"])
                } else {
                    try opened().probe()
                }
                answer(nil)
            } catch {
                recover(from: error)
                guard error.isOfFile, (try? replace(with: tokens)) != nil else { return answer(error.reason) }
                answer("\(error.reason); written anew")
            }
        }
    }

    private func replace(with tokens: ([RevokedToken]) -> [RevokedToken]) throws(StoreFault) {
        var found: [RevokedToken] = []
        do throws(StoreFault) {
            found = try unread()
            try write(tokens(found))
        } catch {
            recover(from: error)
            guard error.isOfFile else { throw error }
            found += try unread()
            try write(tokens(found))
        }
    }

    /// What is in the file and could not be read so far.
    private func unread() throws(StoreFault) -> [RevokedToken] {
        guard isUnread.load(ordering: .relaxed) else { return [] }
        let found = try read()
        isUnread.store(false, ordering: .relaxed)
        return found
    }

    private func write(_ tokens: [RevokedToken]) throws(StoreFault) {
        try opened().write { database in
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

    private func read() throws(StoreFault) -> [RevokedToken] {
        try opened().read { database in
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

    private func opened() throws(StoreFault) -> StoreDatabase {
        if let open = database.withLock({ $0 }) { return open }
        let fresh = try StoreDatabase(
            path: path,
            label: "tokens",
            durability: .everyCommit,
            lockTimeout: Self.lockTimeout,
            migrations: Self.migrations
        )
        database.withLock { $0 = fresh }
        return fresh
    }

    /// Closes the file, so that the next use opens it anew; a damaged one is put aside.
    private func recover(from fault: StoreFault) {
        database.withLock { database in
            database?.close()
            database = nil
        }
        guard case .damaged(let reason) = fault else { return }
        do {
            let aside = try AsideFiles.put(path, as: "damaged", at: Date())
            logger.error(
                "the list of revoked tokens is damaged; put aside, rotate the signing key if any was leaked",
                metadata: ["reason": "\(reason)", "file": "\(aside)"]
            )
        } catch {
            logger.error(
                "the list of revoked tokens is damaged and cannot be put aside",
                metadata: ["reason": "\(reason)", "error": "\(error)"]
            )
        }
    }

    /// The tables, a step for every version there ever was.
    private static var migrations: DatabaseMigrator {
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

extension StoreFault {
    /// Whether the file is not the one it was: another try has a new one.
    fileprivate var isOfFile: Bool {
        switch self {
        case .damaged, .lost: true
        default: false
        }
    }
}
