/// The status of one output.
public struct OutputStatus: Sendable, Equatable {
    /// The states of an output, as the API names them.
    public enum State: String, Sendable, Equatable, Codable {
        /// The first attempt is under way.
        case connecting
        /// The first video frame was published.
        case connected
        /// The connection was lost, and the output reconnects.
        case interrupted
        /// Failed for now, for example because of a wrong key or a refused address; only slow retries go on.
        case failed
        /// Stopped by command.
        case stopped
    }

    /// The operator's name for the output.
    public var name: String
    /// The URL with masked credentials.
    public var url: String
    /// `****` and the last four characters.
    public var maskedStreamKey: String
    /// The state.
    public var state: State
    /// Bytes sent to the target, over all connections.
    public var bytesSent: UInt64
    /// Packets dropped because the target was too slow.
    public var droppedFrames: UInt64
    /// The number of reconnections.
    public var reconnects: UInt64
    /// The latest failure; nil without one.
    public var lastFault: OutputFault?
    /// The backup URL with masked credentials; nil without one.
    public var backupURL: String?
    /// Whether the backup address is the active one.
    public var usesBackup: Bool
    /// The reason why the backup address cannot be reached; nil when it can, or when that is unknown.
    public var backupFault: OutputFault?
    /// `reconnects` by the cause of the preceding loss.
    public var reconnectReasons: [OutputFault.Code: UInt64]
    /// Bytes queued for sending.
    public var queuedBytes: Int
    /// Whether the target is too slow for the program, so that frames are dropped repeatedly.
    public var isSlow: Bool

    /// Creates a status; an output that has sent nothing by default.
    public init(
        name: String,
        url: String,
        maskedStreamKey: String,
        state: State,
        bytesSent: UInt64 = 0,
        droppedFrames: UInt64 = 0,
        reconnects: UInt64 = 0,
        lastFault: OutputFault? = nil,
        backupURL: String? = nil,
        usesBackup: Bool = false,
        backupFault: OutputFault? = nil,
        reconnectReasons: [OutputFault.Code: UInt64] = [:],
        queuedBytes: Int = 0,
        isSlow: Bool = false
    ) {
        self.name = name
        self.url = url
        self.maskedStreamKey = maskedStreamKey
        self.state = state
        self.bytesSent = bytesSent
        self.droppedFrames = droppedFrames
        self.reconnects = reconnects
        self.lastFault = lastFault
        self.backupURL = backupURL
        self.usesBackup = usesBackup
        self.backupFault = backupFault
        self.reconnectReasons = reconnectReasons
        self.queuedBytes = queuedBytes
        self.isSlow = isSlow
    }

    /// The message of the latest failure, without secrets; nil without one.
    public var lastError: String? { lastFault?.message }
}

/// The reason of a missing connection of an output, and the schedule of the next attempt.
public struct OutputFault: Sendable, Hashable {
    /// The kinds of faults, as the API names them.
    public enum Code: String, Sendable, Hashable, Codable, CaseIterable {
        /// The target refused the stream key.
        case keyRefused = "key_refused"
        /// The target refused the application name.
        case applicationRefused = "application_refused"
        /// The target closed the connection before it accepted data, as many do for a wrong key.
        case hungUp = "hung_up"
        /// The certificate is not trusted for this host.
        case certificate
        /// The URL or the key is malformed.
        case invalidAddress = "invalid_address"
        /// The host resolves to an address, or the URL names a port, that is not permitted.
        case forbiddenAddress = "forbidden_address"
        /// The host name does not resolve.
        case nameNotFound = "name_not_found"
        /// The connection was refused or the host is unreachable.
        case unreachable
        /// A step exceeded its timeout.
        case timedOut = "timed_out"
        /// The connection broke.
        case connectionLost = "connection_lost"
        /// The target accepts no data, or far too little.
        case stalled
        /// A local error: out of descriptors, memory or threads.
        case local
    }

    /// The schedule of the next attempt.
    public enum Retry: String, Sendable, Hashable, Codable {
        /// After a second, increasing with every failure.
        case soon
        /// Every 30 seconds: the configuration has to change first.
        case slow
    }

    /// The kind of the fault.
    public var code: Code
    /// The message for people, without secrets.
    public var message: String
    /// The schedule of the next attempt.
    public var retry: Retry

    /// Creates a fault.
    public init(_ code: Code, _ message: String, retry: Retry) {
        self.code = code
        self.message = message
        self.retry = retry
    }
}
