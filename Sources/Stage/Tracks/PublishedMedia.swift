/// What a publishing connection carries at this moment, as far as is known.
public struct PublishedMedia: Sendable, Equatable {
    /// Pictures arrive.
    public var hasVideo: Bool
    /// Sound arrives.
    public var hasAudio: Bool
    /// Picture width in pixels.
    public var width: Int?
    /// Picture height in pixels.
    public var height: Int?
    /// Pictures per second.
    public var frameRate: Double?
    /// The video codec's usual name.
    public var videoCodec: String?
    /// The audio codec's usual name.
    public var audioCodec: String?

    /// Makes a report; nothing is known by default.
    public init(
        hasVideo: Bool = false,
        hasAudio: Bool = false,
        width: Int? = nil,
        height: Int? = nil,
        frameRate: Double? = nil,
        videoCodec: String? = nil,
        audioCodec: String? = nil
    ) {
        self.hasVideo = hasVideo
        self.hasAudio = hasAudio
        self.width = width
        self.height = height
        self.frameRate = frameRate
        self.videoCodec = videoCodec
        self.audioCodec = audioCodec
    }
}
