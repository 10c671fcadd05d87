import SQLiteStore

/// Endpoints and what waits for them in SQLite; nothing outside of this folder knows of it.
///
/// A write-ahead log with a sync at each commit: what was written is there after a crash of the process or of the
/// machine, and is sent then.
struct OutboxDatabase: Sendable {
    let store: StoreDatabase

    /// Opens the database, or makes it, and brings its tables up to date.
    init(path: String, lockTimeout: Double) throws(StoreFault) {
        store = try StoreDatabase(
            path: path,
            label: "webhooks",
            durability: .everyCommit,
            lockTimeout: lockTimeout,
            migrations: Self.migrations
        )
    }

    func close() {
        store.close()
    }
}
