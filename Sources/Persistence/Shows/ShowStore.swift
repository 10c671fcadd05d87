import Dispatch
import Foundation
import GRDB
public import Logging
public import Shows

/// Stores shows in an SQLite file of their own, each as one encrypted document, because it holds stream keys.
///
/// Writes are synced, one transaction each, on the store's own queue. A damaged file is quarantined; its shows are lost.
public final class ShowStore: ShowStoring {
    private static let lockTimeout = 0.5

    private let path: String
    private let seal: DataSeal
    private let logger: Logger
    private let connection: StoreConnection<ShowDatabase>
    /// Serializes all access to the file.
    private let queue = DispatchQueue(label: "footlight.shows", qos: .utility)

    /// Creates a store; `load()` or the first change opens the file.
    ///
    /// - Parameter secret: The gateway's secret, the same after a restart.
    public init(path: String, secret: [UInt8], logger: Logger) {
        self.path = path
        self.logger = logger
        seal = DataSeal(secret: secret, purpose: "footlight shows")
        connection = StoreConnection(path: path, lockTimeout: Self.lockTimeout, logger: logger)
    }

    /// Loads all shows; those that cannot be read are left out, with a log message.
    ///
    /// Takes as long as the disk does, 2 s at most while the file is locked.
    ///
    /// - Returns: The shows, and whether these are all.
    public func load() -> (shows: [Show], areAll: Bool) {
        queue.sync {
            do throws(StoreFault) {
                let documents = try connection.load { (database) throws(StoreFault) in try database.load() }
                let shows = documents.compactMap { id, document -> Show? in
                    do {
                        return try JSONDecoder().decode(Show.self, from: try seal.open(document))
                    } catch {
                        logger.error("a show cannot be read", metadata: ["id": "\(id)", "reason": "\(error)"])
                        return nil
                    }
                }
                return (shows, shows.count == documents.count && !connection.needsFullWrite)
            } catch {
                logger.error("shows cannot be read", metadata: ["file": "\(path)", "reason": "\(error.reason)"])
                return ([], false)
            }
        }
    }

    /// Checks, on the store's queue, whether shows could be written at this moment.
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

    /// Writes a show as it is by then, or deletes it; returns when that is on disk.
    ///
    /// - Parameter all: Returns all shows, which are written again when the file had to be replaced.
    public func save(
        _ id: String,
        _ read: @escaping @Sendable () -> Show?,
        all: @escaping @Sendable () -> [Show]
    ) async throws {
        try await withCheckedThrowingContinuation { (done: CheckedContinuation<Void, any Error>) in
            queue.async { [self] in
                do {
                    try write(read(), of: id)
                    if connection.needsFullWrite {
                        for show in all() where show.id != id { try write(show, of: show.id) }
                        connection.fullWriteCompleted()
                    }
                    done.resume()
                } catch {
                    done.resume(throwing: error)
                }
            }
        }
    }
}

extension ShowStore {
    private func write(_ show: Show?, of id: String) throws {
        let document = try show.map { try seal.seal(JSONEncoder().encode($0)) }
        try connection.perform { (database) throws(StoreFault) in try database.save(document, of: id) }
    }
}

/// The shows in SQLite.
private struct ShowDatabase: StoreSchema {
    static let label = "shows"
    static let content = "shows"
    static let quarantineWord = "damaged"

    let store: StoreDatabase

    func save(_ document: Data?, of id: String) throws(StoreFault) {
        try store.write { database in
            guard let document else {
                try database.execute(sql: "DELETE FROM show WHERE id = ?", arguments: [id])
                return
            }
            try database.execute(
                sql: """
                    INSERT INTO show (id, document) VALUES (?, ?)
                    ON CONFLICT (id) DO UPDATE SET document = excluded.document
                    """,
                arguments: [id, document]
            )
        }
    }

    func load() throws(StoreFault) -> [(id: String, document: Data)] {
        try store.read { database in
            let sql = "SELECT id, document FROM show ORDER BY id LIMIT \(ShowDirectory.mostShows)"
            return try Row.fetchAll(database, sql: sql).map { row in
                try (row.decode(forColumn: "id"), row.decode(forColumn: "document"))
            }
        }
    }

    /// The schema, with one migration per version.
    static var migrations: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1 shows") { database in
            try database.execute(
                sql: """
                    CREATE TABLE show (
                        id TEXT PRIMARY KEY NOT NULL,
                        document BLOB NOT NULL
                    );
                    """
            )
        }
        return migrator
    }
}
