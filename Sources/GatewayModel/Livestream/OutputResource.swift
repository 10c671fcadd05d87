/// How one output is doing.
public struct OutputResource: Codable, Sendable, Hashable {
    /// The operator's name for it.
    public var name: String
    /// The address with credentials masked.
    public var url: String
    /// `****` and the last four characters.
    public var streamKey: String
    /// `connecting`, `connected`, `interrupted`, `failed` or `stopped`.
    public var state: String
    /// Bytes handed to the target.
    public var bytesSent: UInt64
    /// Packets dropped because the target was too slow.
    public var droppedFrames: UInt64
    /// How often it connected again.
    public var reconnects: UInt64
    /// The latest failure; null without one.
    @ExplicitNull public var lastError: OutputFaultResource?
    /// The spare address with credentials masked; left out without one.
    public var spareURL: String?
    /// The spare address is the one in use; left out without one.
    public var onSpare: Bool?

    /// Makes an output.
    public init(
        name: String,
        url: String,
        streamKey: String,
        state: String,
        bytesSent: UInt64,
        droppedFrames: UInt64,
        reconnects: UInt64,
        lastError: OutputFaultResource?
    ) {
        self.name = name
        self.url = url
        self.streamKey = streamKey
        self.state = state
        self.bytesSent = bytesSent
        self.droppedFrames = droppedFrames
        self.reconnects = reconnects
        self.lastError = lastError
    }

    private enum CodingKeys: String, CodingKey {
        case name
        case url
        case streamKey = "stream_key"
        case state
        case bytesSent = "bytes_sent"
        case droppedFrames = "dropped_frames"
        case reconnects
        case lastError = "last_error"
        case spareURL = "spare_url"
        case onSpare = "on_spare"
    }
}
