/// Where webhooks are kept and how patiently they are delivered.
public struct WebhookConfiguration: Sendable, Hashable {
    /// The database's file; beside it SQLite keeps two more, with `-wal` and `-shm` at the end of their names.
    public var path: String
    /// Whether an endpoint's address may begin with `http://`.
    public var allowsPlainHTTP: Bool
    /// Endpoints there may be.
    public var maximumEndpoints: Int
    /// Deliveries that wait for one endpoint at most; beyond them the oldest are dropped and counted.
    public var maximumPending: Int
    /// Bytes of a message at most; a larger one is dropped and counted.
    public var maximumBytes: Int
    /// Seconds that one try may take, from the look-up of the name to the answer.
    public var deadline: Double
    /// Seconds for which the former secret signs along after a rotation.
    public var rotationOverlap: Double
    /// Seconds for which settled deliveries are listed.
    public var retention: Double
    /// When to try again, and when to give up.
    public var schedule: RetrySchedule
    /// Seconds to wait for a database that somebody else has locked, each time.
    public var lockTimeout: Double

    /// Makes a configuration; what is not named has its default.
    public init(
        path: String,
        allowsPlainHTTP: Bool = false,
        maximumEndpoints: Int = 20,
        maximumPending: Int = 10_000,
        maximumBytes: Int = 256 * 1024,
        deadline: Double = 15,
        rotationOverlap: Double = 86_400,
        retention: Double = 7 * 86_400,
        schedule: RetrySchedule = .init(),
        lockTimeout: Double = 0.5
    ) {
        self.path = path
        self.allowsPlainHTTP = allowsPlainHTTP
        self.maximumEndpoints = maximumEndpoints
        self.maximumPending = maximumPending
        self.maximumBytes = maximumBytes
        self.deadline = deadline
        self.rotationOverlap = rotationOverlap
        self.retention = retention
        self.schedule = schedule
        self.lockTimeout = lockTimeout
    }
}
