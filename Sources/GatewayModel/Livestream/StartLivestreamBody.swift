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

    /// Makes a body; what is left out is nil.
    public init(
        outputs: [OutputBody],
        quality: String? = nil,
        fps: Rate? = nil,
        width: Int? = nil,
        height: Int? = nil,
        videoBitrate: Int? = nil,
        audioBitrate: Int? = nil
    ) {
        self.outputs = outputs
        self.quality = quality
        self.fps = fps
        self.width = width
        self.height = height
        self.videoBitrate = videoBitrate
        self.audioBitrate = audioBitrate
    }

    private enum CodingKeys: String, CodingKey {
        case outputs
        case quality
        case fps
        case width
        case height
        case videoBitrate = "video_bitrate"
        case audioBitrate = "audio_bitrate"
    }
}
