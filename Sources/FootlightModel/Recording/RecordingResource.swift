public import Stage

/// The status of a room's recording.
public struct RecordingResource: Codable, Sendable, Hashable {
    /// `RECORDING_STARTING`, `RECORDING_STARTED`, `RECORDING_STOPPING` or `RECORDING_STOPPED`.
    public var state: WireEnum<RecordingState>
    /// The id of the run; null when it never ran.
    @ExplicitNull public var run: String?
    /// The start time of its first file; null before.
    @ExplicitNull public var startedAt: Timestamp?
    /// The sid of the current or latest file; null before the first.
    @ExplicitNull public var fileSID: String?
    /// Packets dropped because the disk was too slow.
    public var droppedPackets: Int
    /// The error that ended the recording; null without one.
    @ExplicitNull public var error: ErrorResource?

    /// Makes a description.
    public init(
        state: WireEnum<RecordingState>,
        run: String?,
        startedAt: Timestamp?,
        fileSID: String?,
        droppedPackets: Int,
        error: ErrorResource?
    ) {
        self.state = state
        self.run = run
        self.startedAt = startedAt
        self.fileSID = fileSID
        self.droppedPackets = droppedPackets
        self.error = error
    }

    private enum CodingKeys: String, CodingKey {
        case state
        case run
        case startedAt = "started_at"
        case fileSID = "file_sid"
        case droppedPackets = "dropped_packets"
        case error
    }
}

/// One file of a recording.
public struct RecordedFileResource: Codable, Sendable, Hashable {
    /// `RC` and 32 hexadecimal digits.
    public var sid: String
    /// The recording run, which all files between a start and a stop share.
    public var run: String
    /// The index in that run, from 1.
    public var part: Int
    /// The sid of the room.
    public var roomSID: String
    /// The room's unique name.
    public var roomName: String
    /// `recording`, `completed`, `interrupted` or `failed`.
    public var state: WireEnum<RecordedFile.State>
    /// The time of its first frame.
    public var startedAt: Timestamp
    /// The end time; null while it is written.
    @ExplicitNull public var endedAt: Timestamp?
    /// The duration of the program in it, in seconds.
    public var duration: Double
    /// The size in bytes that can be fetched.
    public var bytes: Int
    /// Width in pixels; null without video.
    @ExplicitNull public var width: Int?
    /// Height in pixels; null without video.
    @ExplicitNull public var height: Int?
    /// The codecs as RFC 6381 names them.
    public var codecs: String
    /// The URL of the file, for bearers of the same token.
    public var mediaURL: String

    /// Makes a description.
    public init(
        sid: String,
        run: String,
        part: Int,
        roomSID: String,
        roomName: String,
        state: WireEnum<RecordedFile.State>,
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

/// A page of recorded files, the oldest first.
public struct RecordingList: Codable, Sendable, Hashable {
    /// The files.
    public var recordings: [RecordedFileResource]
    /// The next page.
    public var meta: PageResource

    /// Makes a page.
    public init(recordings: [RecordedFileResource], meta: PageResource) {
        self.recordings = recordings
        self.meta = meta
    }
}
