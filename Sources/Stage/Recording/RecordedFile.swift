/// One file of a recording, as it is kept beside the file itself.
public struct RecordedFile: Sendable, Hashable, Codable {
    /// How a file ended.
    public enum State: String, Sendable, Hashable, Codable {
        /// It is being written.
        case recording
        /// It ended as it should: by command, by rotation, or with its room.
        case completed
        /// The process died while it was written; what had reached the disk is there and plays.
        case interrupted
        /// It could not be written on; what was written plays.
        case failed
    }

    /// `RC` and 32 hexadecimal digits.
    public var sid: String
    /// The run of the recorder that made it.
    public var run: String
    /// Its place in that run, from 1.
    public var part: Int
    /// The sid of the room.
    public var roomSID: String
    /// The room's unique name.
    public var roomName: String
    /// How it ended, if it did.
    public var state: State
    /// Seconds since 1970.
    public var startedAt: Double
    /// Seconds since 1970; nil while it is written.
    public var endedAt: Double?
    /// Seconds of the program in it.
    public var duration: Double
    /// Bytes of whole fragments.
    public var bytes: Int
    /// Pixels across; nil without video.
    public var width: Int?
    /// Pixels down; nil without video.
    public var height: Int?
    /// The codecs as RFC 6381 names them, such as `avc1.4D401F,mp4a.40.2`.
    public var codecs: String

    /// Makes the description of a file that begins.
    public init(
        sid: String,
        run: String,
        part: Int,
        roomSID: String,
        roomName: String,
        startedAt: Double,
        width: Int?,
        height: Int?,
        codecs: String
    ) {
        self.sid = sid
        self.run = run
        self.part = part
        self.roomSID = roomSID
        self.roomName = roomName
        state = .recording
        self.startedAt = startedAt
        duration = 0
        bytes = 0
        self.width = width
        self.height = height
        self.codecs = codecs
    }

    /// A new sid of a file.
    public static func makeSID() -> String { StageIdentifier.make("RC") }

    /// A new sid of a run.
    public static func makeRun() -> String { StageIdentifier.make("RR") }

    /// Whether a text has the shape of a file's sid; no other text ever becomes part of a path.
    public static func isSID(_ text: String) -> Bool { StageIdentifier.isOne(text, "RC") }
}
