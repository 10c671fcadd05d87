/// The media that a publishing connection currently carries, as far as known.
public struct PublishedMedia: Sendable, Equatable {
    /// Whether video arrives.
    public var hasVideo: Bool
    /// Whether audio arrives.
    public var hasAudio: Bool
    /// Video width in pixels.
    public var width: Int?
    /// Video height in pixels.
    public var height: Int?
    /// Frames per second.
    public var frameRate: Double?
    /// The video codec's usual name.
    public var videoCodec: String?
    /// The audio codec's usual name.
    public var audioCodec: String?

    /// Creates a report; everything is unknown by default.
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

/// The source of a publishing connection.
public enum PublishSource: String, Sendable, Hashable, Codable {
    /// Microphone and camera of a host.
    case camera
    /// A host's screen; its audio is not used.
    case screen
}
