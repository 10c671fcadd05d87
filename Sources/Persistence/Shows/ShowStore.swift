import Dispatch
public import Foundation
import GRDB
public import Logging
public import Shows

/// The shows in a database, each as one sealed document.
public protocol ShowStorage: RecordStorage {
    /// Writes a document, or deletes it if it is nil, in one transaction.
    ///
    /// - Throws: `fenced` if another gateway owns the show.
    func save(_ document: Data?, of id: String) throws(StoreFault)

    /// Loads the documents of all shows, ordered by their ids, of which there are at most `ShowDirectory.mostShows`.
    func load() throws(StoreFault) -> [(id: String, document: Data)]

    /// Loads the document of a show that this gateway owns; nil if it was never written.
    ///
    /// - Throws: `unavailable` also if the server does not know that this gateway owns the show: it may be outdated.
    func load(_ id: String) throws(StoreFault) -> Data?
}

/// Stores shows in a database, each as one encrypted document, because it holds stream keys.
///
/// Writes are durable, one transaction each, on the store's own queue.
public final class ShowStore: ShowStoring {
    private static let lockTimeout = 0.5

    private let seal: DataSeal
    private let logger: Logger
    private let storage: any ShowStorage
    /// Serializes all access to the database.
    private let queue = DispatchQueue(label: "footlight.shows", qos: .utility)

    /// Creates a store with its shows in a SQLite file of their own; `load()` or the first change opens it.
    ///
    /// A damaged file is quarantined; its shows are lost.
    ///
    /// - Parameter secret: The gateway's secret, the same after a restart.
    public convenience init(path: String, secret: [UInt8], logger: Logger) {
        let connection = StoreConnection<ShowDatabase>(path: path, lockTimeout: Self.lockTimeout, logger: logger)
        self.init(storage: connection, secret: secret, logger: logger)
    }

    /// Creates a store with its shows in a database.
    ///
    /// - Parameter secret: The secret of all gateways that use the database, the same after a restart.
    public init(storage: any ShowStorage, secret: [UInt8], logger: Logger) {
        self.storage = storage
        self.logger = logger
        seal = DataSeal(secret: secret, purpose: "footlight shows")
    }

    /// Loads all shows; those that cannot be read are left out, with a log message.
    ///
    /// Takes as long as the disk does, 2 s at most while the file is locked.
    ///
    /// - Returns: The shows, and whether these are all.
    public func load() -> (shows: [Show], areAll: Bool) {
        queue.sync {
            do throws(StoreFault) {
                let documents = try storage.load()
                let shows = documents.compactMap { id, document -> Show? in
                    do {
                        return try decode(document)
                    } catch {
                        logger.error("a show cannot be read", metadata: ["id": "\(id)", "reason": "\(error)"])
                        return nil
                    }
                }
                return (shows, shows.count == documents.count && !storage.needsFullWrite)
            } catch {
                logger.error(
                    "shows cannot be read",
                    metadata: ["file": "\(storage.location)", "reason": "\(error.reason)"]
                )
                return ([], false)
            }
        }
    }

    /// Loads one show, after this gateway became its owner; nil if it was never written.
    ///
    /// - Throws: `StoreFault` if the database does not answer or does not know the owner, or the reason why the document
    ///   cannot be decoded.
    public func load(show id: String) async throws -> Show? {
        try await withCheckedThrowingContinuation { (done: CheckedContinuation<Show?, any Error>) in
            queue.async { [self] in
                do {
                    done.resume(returning: try storage.load(id).map { try decode($0) })
                } catch {
                    done.resume(throwing: error)
                }
            }
        }
    }

    /// Checks, on the store's queue, whether shows could be written at this moment.
    ///
    /// - Parameter answer: Called on that queue with the problem, or nil.
    public func probe(_ answer: @escaping @Sendable (_ problem: String?) -> Void) {
        queue.async { [self] in
            do throws(StoreFault) {
                try storage.probe()
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
                    if storage.needsFullWrite {
                        for show in all() where show.id != id { try write(show, of: show.id) }
                        storage.fullWriteCompleted()
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
        try storage.save(try show.map { try seal.seal(JSONEncoder().encode($0)) }, of: id)
    }

    private func decode(_ document: Data) throws -> Show {
        try JSONDecoder().decode(Show.self, from: try seal.open(document))
    }
}

/// The shows of a gateway that runs alone: it owns them all.
extension StoreConnection: ShowStorage where Schema == ShowDatabase {
    func save(_ document: Data?, of id: String) throws(StoreFault) {
        try perform { (database) throws(StoreFault) in try database.save(document, of: id) }
    }

    func load() throws(StoreFault) -> [(id: String, document: Data)] {
        try load { (database) throws(StoreFault) in try database.load() }
    }

    func load(_ id: String) throws(StoreFault) -> Data? {
        try perform { (database) throws(StoreFault) in try database.load(id) }
    }
}

/// The shows in SQLite.
struct ShowDatabase: StoreSchema {
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

    func load(_ id: String) throws(StoreFault) -> Data? {
        try store.read { database in
            try Data.fetchOne(database, sql: "SELECT document FROM show WHERE id = ?", arguments: [id])
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
