import GRDB

/// Copies of databases that other processes use.
public enum DatabaseCopy {
    /// Copies a database as it is at one moment, while others read and write it (SQLite's online backup).
    ///
    /// Blocks until all is copied.
    ///
    /// - Parameters:
    ///   - path: The path of an existing database.
    ///   - destination: The path of the copy, which must not exist.
    /// - Throws: The error of SQLite.
    public static func make(of path: String, at destination: String) throws {
        var reading = Configuration()
        reading.readonly = true
        reading.busyMode = .timeout(10)
        let source = try DatabaseQueue(path: path, configuration: reading)
        let copy = try DatabaseQueue(path: destination)
        try source.backup(to: copy)
        // One file, without the log of changes that the original has beside it.
        try copy.writeWithoutTransaction { try $0.execute(sql: "PRAGMA journal_mode = DELETE") }
        try copy.close()
        try source.close()
    }

    /// Whether a database is intact, by SQLite's own check; false if the file is no database.
    public static func isIntact(_ path: String) -> Bool {
        var reading = Configuration()
        reading.readonly = true
        guard let queue = try? DatabaseQueue(path: path, configuration: reading) else { return false }
        let verdict = try? queue.read { try String.fetchOne($0, sql: "PRAGMA quick_check(1)") }
        return verdict == "ok"
    }
}
