/// One file of a recording.
public struct RecordedFileResource: Codable, Sendable, Hashable {
    /// `RC` and 32 hexadecimal digits.
    public var sid: String
    /// The run of the recording, which all files between a start and a stop share.
    public var run: String
    /// Its place in that run, from 1.
    public var part: Int
    /// The sid of the room.
    public var roomSID: String
    /// The room's unique name.
    public var roomName: String
    /// `recording`, `completed`, `interrupted` or `failed`.
    public var state: String
    /// When its first picture was shown.
    public var startedAt: Timestamp
    /// When it ended; null while it is written.
    @ExplicitNull public var endedAt: Timestamp?
    /// Seconds of the program in it.
    public var duration: Double
    /// Bytes that can be fetched.
    public var bytes: Int
    /// Pixels across; null without video.
    @ExplicitNull public var width: Int?
    /// Pixels down; null without video.
    @ExplicitNull public var height: Int?
    /// The codecs as RFC 6381 names them.
    public var codecs: String
    /// Where the file itself is, for bearers of the same token.
    public var mediaURL: String

    /// Makes a description.
    public init(
        sid: String,
        run: String,
        part: Int,
        roomSID: String,
        roomName: String,
        state: String,
        startedAt: Timestamp,
        endedAt: Timestamp?,
        duration: Double,
        bytes: Int,
        width: Int?,
        height: Int?,
        codecs: String,
        mediaURL: String
    ) {
        self.sid = sid
        self.run = run
        self.part = part
        self.roomSID = roomSID
        self.roomName = roomName
        self.state = state
        self.startedAt = startedAt
        self.endedAt = endedAt
        self.duration = duration
        self.bytes = bytes
        self.width = width
        self.height = height
        self.codecs = codecs
        self.mediaURL = mediaURL
    }

    private enum CodingKeys: String, CodingKey {
        case sid
        case run
        case part
        case roomSID = "room_sid"
        case roomName = "room_name"
        case state
        case startedAt = "started_at"
        case endedAt = "ended_at"
        case duration
        case bytes
        case width
        case height
        case codecs
        case mediaURL = "media_url"
    }
}
