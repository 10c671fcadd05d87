import Foundation
public import GRDB

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
    }

    /// Does everything in one transaction.
    public func write<Outcome>(_ body: (Database) throws -> Outcome) throws(StoreFault) -> Outcome {
        try StoreFault.translating { try writer.write(body) }
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

    private static func check(_ database: Database, _ migrations: DatabaseMigrator) throws {
        let finding = try String.fetchOne(database, sql: "PRAGMA quick_check(1)") ?? "no answer"
        guard finding == "ok" else { throw StoreFault.damaged(finding) }
        if try migrations.hasBeenSuperseded(database) { throw StoreFault.damaged("written by a later version") }
    }
}
