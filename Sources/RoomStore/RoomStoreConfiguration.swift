/// Where rooms are kept, for how long, and how patiently.
public struct RoomStoreConfiguration: Sendable, Hashable {
    /// The database's file; beside it SQLite keeps two more, with `-wal` and `-shm` at the end of their names.
    public var path: String
    /// Ended rooms that are kept for look-up, the oldest forgotten first.
    public var keptEndedRooms: Int
    /// Seconds for which an ended room is kept.
    public var endedRetention: Double
    /// Seconds in which changes are gathered before they are written, when nobody waits for them.
    public var gathering: Double
    /// Seconds to wait for a database that somebody else has locked, each time.
    public var lockTimeout: Double
    /// Seconds until the first try after one that failed; the next ones wait twice as long each.
    public var firstRetry: Double
    /// The longest time between two tries, in seconds.
    public var longestRetry: Double

    /// Makes a configuration; what is not named has its default.
    public init(
        path: String,
        keptEndedRooms: Int = 100,
        endedRetention: Double = 30 * 86_400,
        gathering: Double = 0.1,
        lockTimeout: Double = 0.5,
        firstRetry: Double = 0.1,
        longestRetry: Double = 5
    ) {
        self.path = path
        self.keptEndedRooms = keptEndedRooms
        self.endedRetention = endedRetention
        self.gathering = gathering
        self.lockTimeout = lockTimeout
        self.firstRetry = firstRetry
        self.longestRetry = longestRetry
    }
}
