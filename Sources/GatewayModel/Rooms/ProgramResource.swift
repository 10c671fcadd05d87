/// What a room's program looks and sounds like.
///
/// In a request every field may be left out; in an answer all are there.
public struct ProgramResource: Codable, Sendable, Hashable {
    /// Canvas width in pixels, even, 160 to 1920.
    public var width: Int?
    /// Canvas height in pixels, even, 90 to 1920.
    public var height: Int?
    /// Pictures per second, 1 to 60: `30`, `29.97`, or `"30000/1001"`.
    public var fps: Rate?
    /// Video kilobits per second, 10 to 10 000.
    public var videoBitrate: Int?
    /// Audio kilobits per second, 10 to 320.
    public var audioBitrate: Int?
    /// Encoder effort, `ultrafast` to `medium` as x264 knows them; but `veryfast`, the default, searches less.
    public var preset: String?
    /// Seconds between key pictures, 1 to 10.
    public var keyInterval: Int?
    /// Milliseconds a host's media is held back to even out its arrival, 60 to 2000.
    public var jitterTarget: Int?
    /// The program once more in smaller sizes, the largest first; none when left out.
    public var renditions: [RenditionResource]?
    /// Whether the sound is offered by itself too, as `ROOM_audio`.
    public var audioOnly: Bool?

    /// Makes a description; what is left out is nil.
    public init(
        width: Int? = nil,
        height: Int? = nil,
        fps: Rate? = nil,
        videoBitrate: Int? = nil,
        audioBitrate: Int? = nil,
        preset: String? = nil,
        keyInterval: Int? = nil,
        jitterTarget: Int? = nil
    ) {
        self.width = width
        self.height = height
        self.fps = fps
        self.videoBitrate = videoBitrate
        self.audioBitrate = audioBitrate
        self.preset = preset
        self.keyInterval = keyInterval
        self.jitterTarget = jitterTarget
    }

    private enum CodingKeys: String, CodingKey {
        case width
        case height
        case fps
        case videoBitrate = "video_bitrate"
        case audioBitrate = "audio_bitrate"
        case preset
        case keyInterval = "key_interval"
        case jitterTarget = "jitter_target"
        case renditions
        case audioOnly = "audio_only"
    }
}
