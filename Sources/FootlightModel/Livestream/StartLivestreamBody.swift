public import Stage

/// The body of `POST /v1/rooms/{room}/livestream/start`.
public struct StartLivestreamBody: Codable, Sendable, Hashable {
    /// The outputs; at least one.
    public var outputs: [OutputBody]
    /// `1080p`, `720p`, `480p` or `360p`; must match the room's program.
    public var quality: WireEnum<ProgramQuality>?
    /// Must match the room's program.
    public var fps: Rate?
    /// Must match the room's program.
    public var width: Int?
    /// Must match the room's program.
    public var height: Int?
    /// Must match the room's program.
    public var videoBitrate: Int?
    /// Must match the room's program.
    public var audioBitrate: Int?
    /// Seconds after which the livestream stops; 10 800 when omitted.
    public var maxDuration: Int?
    /// Seconds with all microphones and cameras off after which the livestream stops; 300 when omitted.
    public var minIdleTimeout: Int?
    /// Changes the room's layout before the start.
    public var layout: LayoutBody?

    /// Makes a body; what is left out is nil.
    public init(
        outputs: [OutputBody],
        quality: WireEnum<ProgramQuality>? = nil,
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

/// The body of `POST /v1/rooms/{room}/hls/start`.
public struct StartHLSBody: Codable, Sendable, Hashable {
    /// Changes the room's layout before the start.
    public var layout: LayoutBody?

    /// Makes a body; what is left out is nil.
    public init(layout: LayoutBody? = nil) {
        self.layout = layout
    }
}

/// The actions that a room starts with its program.
public struct AutoStartBody: Codable, Sendable, Hashable {
    /// The livestream to start.
    public var livestream: StartLivestreamBody?
    /// The HLS to start.
    public var hls: StartHLSBody?

    /// Makes a body; what is left out is nil.
    public init(livestream: StartLivestreamBody? = nil, hls: StartHLSBody? = nil) {
        self.livestream = livestream
        self.hls = hls
    }
}
