import Foundation
import GRDB
import Glibc
import Synchronization

/// A SQLite file with a write-ahead log, integrity check, migrations and classified errors.
///
/// A crash of the process loses no committed transaction; `Durability` says what a crash of the machine may lose.
struct StoreDatabase: Sendable {
    /// When committed transactions are synced to disk; the raw value is SQLite's `synchronous` setting.
    enum Durability: String, Sendable {
        /// Synced at each commit.
        case everyCommit = "FULL"
        /// Synced at checkpoints only: a crash of the machine may lose the last seconds.
        case checkpoints = "NORMAL"
    }

    private let writer: any DatabaseWriter
    private let path: String
    /// The identity of the file that was opened.
    private let identity: FileIdentity?

    /// Opens or creates a database, checks its pages, and migrates its schema.
    ///
    /// - Parameters:
    ///   - label: The name of the database in messages of SQLite.
    ///   - readers: The number of read-only connections, which neither block the writer nor are blocked by it; with 0
    ///     one connection does everything.
    ///   - lockTimeout: Seconds to wait for a lock of another process, per attempt.
    ///   - migrations: The schema, with one migration per version.
    /// - Throws: `damaged` for a file that is no database, fails the integrity check, has other tables, or was migrated
    ///   by a later version.
    init(
        path: String,
        label: String,
        durability: Durability,
        readers: Int = 0,
        lockTimeout: Double,
        migrations: DatabaseMigrator
    ) throws(StoreFault) {
        var isFolder: ObjCBool = false
        if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue {
            throw .damaged("a folder is in its place")
        }
        Self.restrict(path)
        let writer: any DatabaseWriter = try StoreFault.translating(isOpen: false) {
            var configuration = Configuration()
            configuration.journalMode = .wal
            configuration.busyMode = .timeout(lockTimeout)
            configuration.label = label
            let writer: any DatabaseWriter
            if readers == 0 {
                writer = try DatabaseQueue(path: path, configuration: configuration)
            } else {
                configuration.maximumReaderCount = readers
                writer = try DatabasePool(path: path, configuration: configuration)
            }
            // Not in `prepareDatabase`, because switching to the write-ahead log resets `synchronous`.
            try writer.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = \(durability.rawValue)") }
            return writer
        }
        self.writer = writer
        try StoreFault.translating {
            try writer.read { try Self.check($0, migrations) }
            try migrations.migrate(writer)
        }
        self.path = path
        identity = FileIdentity(path: path)
    }

    /// Runs `body` in one write transaction.
    ///
    /// - Throws: `lost` when the file is no longer at its path, where the transaction would be lost.
    func write<Outcome>(_ body: (Database) throws -> Outcome) throws(StoreFault) -> Outcome {
        try checkFile()
        return try StoreFault.translating { try writer.write(body) }
    }

    /// Checks whether the database could be written at this moment; changes nothing.
    ///
    /// Blocks while another process holds the write lock, up to the lock timeout.
    func probe() throws(StoreFault) {
        // An empty transaction acquires and releases the write lock.
        try write { _ in }
    }

    /// Checks that the file at the path is the open one and still has a SQLite header.
    ///
    /// SQLite itself continues to use a deleted file, and pages that are cached in memory.
    private func checkFile() throws(StoreFault) {
        guard let identity else { return }
        guard let present = FileIdentity(path: path) else { throw .lost("the file is gone") }
        guard present == identity else { throw .lost("another file is in its place") }
        guard DatabaseHeaderReader.shared.isDatabase(path: path, identity) else {
            throw .damaged("the file has no SQLite header")
        }
    }

    /// Runs `body` on a consistent snapshot of the database.
    func read<Outcome>(_ body: (Database) throws -> Outcome) throws(StoreFault) -> Outcome {
        try StoreFault.translating { try writer.read(body) }
    }

    /// Closes the database; committed transactions are in the file already.
    func close() {
        // A read in progress keeps the file open a little longer.
        try? writer.close()
    }

    /// Creates the file with mode 0600, and restricts the permissions of existing files to their owner.
    ///
    /// SQLite gives the `-wal` and `-shm` files the permissions of the database. Failures are left for SQLite to
    /// report.
    private static func restrict(_ path: String) {
        let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        if descriptor >= 0 { Glibc.close(descriptor) }
        for file in [path, path + "-wal", path + "-shm"] { chmod(file, 0o600) }
    }

    private static func check(_ database: Database, _ migrations: DatabaseMigrator) throws {
        let finding = try String.fetchOne(database, sql: "PRAGMA quick_check(1)") ?? "no answer"
        guard finding == "ok" else { throw StoreFault.damaged(finding) }
        if try migrations.hasBeenSuperseded(database) { throw StoreFault.damaged("written by a later version") }
    }
}

/// The device and inode of a file, whatever its name.
struct FileIdentity: Equatable, Sendable {
    private let device: UInt64
    private let number: UInt64

    /// Reads the identity of the file at a path; nil when there is none.
    init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        device = UInt64(truncatingIfNeeded: status.st_dev)
        number = UInt64(truncatingIfNeeded: status.st_ino)
    }
}

/// Reads the headers of database files through descriptors that stay open.
///
/// A process that closes any descriptor of a file loses all its locks on that file (fcntl(2)), those of SQLite too. So
/// no descriptor is closed while its file is at the path.
final class DatabaseHeaderReader: Sendable {
    static let shared = DatabaseHeaderReader()

    private let files = Mutex<[String: (identity: FileIdentity, file: Int32)]>([:])

    /// Whether a file has a SQLite header; true for an empty file, which is a new database, and for one that cannot be
    /// opened at this moment, whose content is unknown.
    func isDatabase(path: String, _ identity: FileIdentity) -> Bool {
        files.withLock { files in
            if files[path]?.identity != identity {
                let file = open(path, O_RDONLY | O_CLOEXEC)
                guard file >= 0 else { return true }
                for (path, known) in files where FileIdentity(path: path) != known.identity {
                    close(known.file)
                    files[path] = nil
                }
                files[path] = (identity, file)
            }
            guard let file = files[path]?.file else { return true }
            var bytes = [UInt8](repeating: 0, count: 16)
            let count = pread(file, &bytes, bytes.count, 0)
            return count <= 0 || (count == bytes.count && bytes.elementsEqual(Array("SQLite format 3\0".utf8)))
        }
    }
}
