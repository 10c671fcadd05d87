/// How one output is doing.
public struct OutputStatus: Sendable, Equatable {
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

    public var name: String
    /// The address with its credentials masked.
    public var url: String
    /// `****` and the last four characters.
    public var maskedStreamKey: String
    public var state: State
    public var bytesSent: UInt64
    /// Packets dropped because the target was too slow.
    public var droppedFrames: UInt64
    public var reconnects: UInt64
    public var lastError: String?

    public init(
        name: String,
        url: String,
        maskedStreamKey: String,
        state: State,
        bytesSent: UInt64 = 0,
        droppedFrames: UInt64 = 0,
        reconnects: UInt64 = 0,
        lastError: String? = nil
    ) {
        self.name = name
        self.url = url
        self.maskedStreamKey = maskedStreamKey
        self.state = state
        self.bytesSent = bytesSent
        self.droppedFrames = droppedFrames
        self.reconnects = reconnects
        self.lastError = lastError
    }
}
