import SQLiteStore

/// The history in SQLite; nothing outside of this folder knows of it.
///
/// A write-ahead log that is synced at checkpoints only: a crash of the process loses nothing that was committed, one of
/// the machine at most the last seconds. Readers have connections of their own and hold nobody up.
struct HistoryDatabase: Sendable {
    let store: StoreDatabase

    /// Opens the database, or makes it, and brings its tables up to date.
    init(path: String, lockTimeout: Double) throws(StoreFault) {
        store = try StoreDatabase(
            path: path,
            label: "viewership",
            durability: .checkpoints,
            readers: 2,
            lockTimeout: lockTimeout,
            migrations: Self.migrations
        )
    }

    func close() {
        store.close()
    }
}
