/// How one output is doing.
public struct OutputStatus: Sendable, Equatable {
    /// The states of an output, in the spelling of the wire.
    public enum State: String, Sendable, Equatable, Codable {
        /// Trying for the first time.
        case connecting
        /// The first picture was published.
        case connected
        /// Was connected, lost its target, and tries again by itself.
        case interrupted
        /// Given up for now, as a wrong key or a refused address would; only slow tries are left.
        case failed
        /// Taken down by command.
        case stopped
    }

    /// The operator's name for the output.
    public var name: String
    /// The address with its credentials masked.
    public var url: String
    /// `****` and the last four characters.
    public var maskedStreamKey: String
    /// How far the output is.
    public var state: State
    /// Bytes handed to the target, over all connections.
    public var bytesSent: UInt64
    /// Packets dropped because the target was too slow.
    public var droppedFrames: UInt64
    /// How often it connected again after a loss.
    public var reconnects: UInt64
    /// The latest failure; nil without one.
    public var lastFault: OutputFault?
    /// The spare address with its credentials masked; nil without one.
    public var spareURL: String?
    /// The spare address is the one that is pushed to, or tried.
    public var isOnSpare: Bool
    /// Why the spare address could not be had if it were needed now; nil when it could, or nobody knows.
    public var spareFault: OutputFault?
    /// `reconnects` by what had broken the connection before.
    public var reconnectReasons: [OutputFault.Code: UInt64]
    /// Bytes that wait to be sent.
    public var queuedBytes: Int
    /// The target is too slow for the program, so that pictures are dropped again and again.
    public var isSlow: Bool

    /// Makes a status; an output that has sent nothing by default.
    public init(
        name: String,
        url: String,
        maskedStreamKey: String,
        state: State,
        bytesSent: UInt64 = 0,
        droppedFrames: UInt64 = 0,
        reconnects: UInt64 = 0,
        lastFault: OutputFault? = nil,
        spareURL: String? = nil,
        isOnSpare: Bool = false,
        spareFault: OutputFault? = nil,
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
        self.spareURL = spareURL
        self.isOnSpare = isOnSpare
        self.spareFault = spareFault
        self.reconnectReasons = reconnectReasons
        self.queuedBytes = queuedBytes
        self.isSlow = isSlow
    }

    /// The latest failure in words, free of secrets; nil without one.
    public var lastError: String? { lastFault?.message }
}
