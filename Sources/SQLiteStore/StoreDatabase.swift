import Foundation
public import GRDB
import Glibc

/// A SQLite file with a write-ahead log: opened, checked and brought up to date, its errors told apart.
///
/// A crash of the process loses nothing that was committed. What one of the machine may lose, `Durability` says.
public struct StoreDatabase: Sendable {
    /// When what was committed is on the disk; the raw value is SQLite's word for it.
    public enum Durability: String, Sendable {
        /// At each commit.
        case everyCommit = "FULL"
        /// At checkpoints only: a crash of the machine may lose the last seconds.
        case checkpoints = "NORMAL"
    }

    private let writer: any DatabaseWriter
    private let path: String
    /// The file that was opened.
    private let identity: FileIdentity?

    /// Opens a database, or makes it, checks its pages, and brings its tables up to date.
    ///
    /// - Parameters:
    ///   - label: Names the database in messages of SQLite.
    ///   - readers: Connections that read beside the one that writes, and hold it up no more than it them; with 0 there is
    ///     one connection for everything.
    ///   - lockTimeout: Seconds to wait for a database that somebody else has locked, each time.
    ///   - migrations: The tables, a step for every version there ever was.
    /// - Throws: `damaged` for what is no database, whose pages do not fit together, that holds other tables, or that a
    ///   later version has changed.
    public init(
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
            // Not while the connection is prepared: going over to the write-ahead log sets it anew.
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

    /// Does everything in one transaction.
    ///
    /// - Throws: `lost` when the file is no longer at its place, where a transaction would be written to nothing.
    public func write<Outcome>(_ body: (Database) throws -> Outcome) throws(StoreFault) -> Outcome {
        try checkFile()
        return try StoreFault.translating { try writer.write(body) }
    }

    /// Finds out whether the database could be written at this moment; changes nothing in it.
    ///
    /// Takes as long as a lock of somebody else's lasts, up to the lock timeout.
    public func probe() throws(StoreFault) {
        // A transaction without a change: the write lock is taken and given back.
        try write { _ in }
    }

    /// Checks that the file at the path is the one that is open, and still begins as a database does.
    ///
    /// SQLite itself goes on with a file that was deleted, and with pages that it has in memory.
    private func checkFile() throws(StoreFault) {
        guard let identity else { return }
        guard let present = FileIdentity(path: path) else { throw .lost("the file is gone") }
        guard present == identity else { throw .lost("another file is in its place") }
        guard DatabaseHeaders.shared.isDatabase(path: path, identity) else {
            throw .damaged("the file does not begin as a database does")
        }
    }

    /// Reads from one moment of the database.
    public func read<Outcome>(_ body: (Database) throws -> Outcome) throws(StoreFault) -> Outcome {
        try StoreFault.translating { try writer.read(body) }
    }

    /// Closes the file; what was committed is in it already.
    public func close() {
        // Closing only tidies up; a reader that is still at work keeps it open a little longer.
        try? writer.close()
    }

    /// Makes the file for its owner alone, and narrows the permissions of one that is there, with the two beside it.
    ///
    /// SQLite gives the two beside it the permissions of the file. What cannot be made or changed here is left to it.
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
