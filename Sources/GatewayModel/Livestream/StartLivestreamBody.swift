/// The body of `POST /v1/rooms/{room}/livestream/start`.
public struct StartLivestreamBody: Codable, Sendable, Hashable {
    /// At least one.
    public var outputs: [OutputBody]
    /// `1080p`, `720p`, `480p` or `360p`; must be what the room's program is.
    public var quality: String?
    /// Must be what the room's program has.
    public var fps: Rate?
    /// Must be what the room's program has.
    public var width: Int?
    /// Must be what the room's program has.
    public var height: Int?
    /// Must be what the room's program has.
    public var videoBitrate: Int?
    /// Must be what the room's program has.
    public var audioBitrate: Int?
    /// Seconds after which it stops by itself; 10 800 when left out.
    public var maxDuration: Int?
    /// Seconds of nothing to hear or see after which it stops by itself; 300 when left out.
    public var minIdleTimeout: Int?
    /// Changes the room's layout at once.
    public var layout: LayoutBody?

    /// Makes a body; what is left out is nil.
    public init(
        outputs: [OutputBody],
        quality: String? = nil,
        fps: Rate? = nil,
        width: Int? = nil,
        height: Int? = nil,
        videoBitrate: Int? = nil,
        audioBitrate: Int? = nil,
        maxDuration: Int? = nil,
        minIdleTimeout: Int? = nil,
        layout: LayoutBody? = nil
    ) {
        self.outputs = outputs
        self.quality = quality
        self.fps = fps
        self.width = width
        self.height = height
        self.videoBitrate = videoBitrate
        self.audioBitrate = audioBitrate
        self.maxDuration = maxDuration
        self.minIdleTimeout = minIdleTimeout
        self.layout = layout
    }

    private enum CodingKeys: String, CodingKey {
        case outputs
        case quality
        case fps
        case width
        case height
        case videoBitrate = "video_bitrate"
        case audioBitrate = "audio_bitrate"
        case maxDuration = "max_duration"
        case minIdleTimeout = "min_idle_timeout"
        case layout
    }
}
