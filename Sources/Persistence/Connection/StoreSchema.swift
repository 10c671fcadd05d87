import GRDB

/// The tables of one database, and the operations on them.
protocol StoreSchema: Sendable {
    /// The name of the database in messages of SQLite.
    static var label: String { get }
    /// What the database holds, in the plural, for the log.
    static var content: String { get }
    /// When committed transactions are synced to disk.
    static var durability: StoreDatabase.Durability { get }
    /// The number of read-only connections; see `StoreDatabase.init`.
    static var readers: Int { get }
    /// The part of a quarantined database's name between the old name and the date.
    static var quarantineWord: String { get }
    /// What an operator should do about lost content; nil for nothing.
    static var adviceOnDamage: String? { get }
    /// The tables, with one migration per version.
    static var migrations: DatabaseMigrator { get }

    /// The open database.
    var store: StoreDatabase { get }

    init(store: StoreDatabase)
}

extension StoreSchema {
    static var durability: StoreDatabase.Durability { .everyCommit }
    static var readers: Int { 0 }
    static var adviceOnDamage: String? { nil }

    /// Opens or creates the database and migrates its schema.
    init(path: String, lockTimeout: Double) throws(StoreFault) {
        self.init(
            store: try StoreDatabase(
                path: path,
                label: Self.label,
                durability: Self.durability,
                readers: Self.readers,
                lockTimeout: lockTimeout,
                migrations: Self.migrations
            )
        )
    }

    func close() {
        store.close()
    }
}
