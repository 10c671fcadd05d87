/// Where the audience's history is kept, for how long, and how patiently.
public struct HistoryStoreConfiguration: Sendable, Hashable {
    /// The database's file; beside it SQLite keeps two more, with `-wal` and `-shm` at the end of their names.
    public var path: String
    /// Seconds for which single sessions are kept.
    public var sessionRetention: Double
    /// Seconds for which minutes and broadcasts, which tell of nobody, are kept; 0 for ever.
    public var minuteRetention: Double
    /// Seconds to wait for a database that somebody else has locked, each time.
    public var lockTimeout: Double
    /// Seconds after which a database that stays locked is put aside and another one begun.
    public var lockPatience: Double

    /// The file of the sessions' latest steps, beside the database.
    var stepsPath: String { path + ".steps" }

    /// Makes a configuration; what is not named has its default.
    public init(
        path: String,
        sessionRetention: Double = 30 * 86_400,
        minuteRetention: Double = 0,
        lockTimeout: Double = 0.5,
        lockPatience: Double = 60
    ) {
        self.path = path
        self.sessionRetention = sessionRetention
        self.minuteRetention = minuteRetention
        self.lockTimeout = lockTimeout
        self.lockPatience = lockPatience
    }
}
