public import Stage

/// The status of one output.
public struct OutputResource: Codable, Sendable, Hashable {
    /// The operator's name for the output.
    public var name: String
    /// The URL with masked credentials.
    public var url: String
    /// `****` and the last four characters.
    public var streamKey: String
    /// `connecting`, `connected`, `interrupted`, `failed` or `stopped`.
    public var state: WireEnum<OutputStatus.State>
    /// Bytes sent to the target.
    public var bytesSent: UInt64
    /// Packets dropped because the target was too slow.
    public var droppedFrames: UInt64
    /// The number of reconnections.
    public var reconnects: UInt64
    /// The latest failure; null without one.
    @ExplicitNull public var lastError: OutputFaultResource?
    /// The backup URL with masked credentials; absent without one.
    public var backupURL: String?
    /// Whether the backup address is active; absent without one.
    public var usesBackup: Bool?

    /// Makes an output.
    public init(
        name: String,
        url: String,
        streamKey: String,
        state: WireEnum<OutputStatus.State>,
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
        case backupURL = "spare_url"
        case usesBackup = "on_spare"
    }
}

/// The reason of a missing connection of an output.
public struct OutputFaultResource: Codable, Sendable, Hashable {
    /// `key_refused`, `application_refused`, `hung_up`, `certificate`, `invalid_address`, `forbidden_address`,
    /// `name_not_found`, `unreachable`, `timed_out`, `connection_lost`, `stalled` or `local`.
    public var code: WireEnum<OutputFault.Code>
    /// The message for people.
    public var message: String
    /// `soon`, or `slow` when the configuration has to change first.
    public var retry: WireEnum<OutputFault.Retry>

    /// Makes a fault.
    public init(code: WireEnum<OutputFault.Code>, message: String, retry: WireEnum<OutputFault.Retry>) {
        self.code = code
        self.message = message
        self.retry = retry
    }
}

/// A target for the program.
public struct OutputBody: Codable, Sendable, Hashable {
    /// The operator's name for the output, `[A-Za-z0-9_-]{1,64}`; generated when omitted.
    public var name: String?
    /// `rtmp://` or `rtmps://`, without the stream key.
    public var url: String
    /// The stream key; never shown again.
    public var streamKey: String
    /// The rendition to push, such as `720p`; the program itself when omitted.
    public var rendition: String?
    /// The URL to push to when `url` fails; none when omitted.
    public var backupURL: String?
    /// The stream key of the backup; `stream_key` when omitted.
    public var backupStreamKey: String?

    /// Makes a body.
    public init(name: String? = nil, url: String, streamKey: String) {
        self.name = name
        self.url = url
        self.streamKey = streamKey
    }

    private enum CodingKeys: String, CodingKey {
        case name
        case url
        case streamKey = "stream_key"
        case rendition
        case backupURL = "spare_url"
        case backupStreamKey = "spare_stream_key"
    }
}
