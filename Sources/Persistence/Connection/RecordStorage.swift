/// A database with the records of one concern: a SQLite file of one gateway, or a PostgreSQL database that several share.
///
/// Calls block until the database answers, for some seconds at most. One thread at a time makes them, and never an event
/// loop.
public protocol RecordStorage: Sendable {
    /// Where the database is, for the log; contains no password.
    var location: String { get }

    /// The number of unusable databases that were moved out of the way; always 0 for a server.
    var quarantinedDatabases: Int { get }

    /// Whether the database replaces an unusable one, and lacks what is in memory; never for a server.
    var needsFullWrite: Bool { get }

    /// Records that everything in memory was written to the database.
    func fullWriteCompleted()

    /// Checks whether the database could be written at this moment.
    func probe() throws(StoreFault)

    /// Closes a file, which the next operation reopens; does nothing to the connection to a server.
    func close()
}
