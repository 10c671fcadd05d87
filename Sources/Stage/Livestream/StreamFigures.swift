public import Media

/// What a stream that is pushed is made of, as it is meant to be or as it was measured; nil for what is not known.
public struct StreamFigures: Sendable, Hashable {
    /// Pixels across.
    public var width: Int?
    /// Pixels down.
    public var height: Int?
    /// Pictures per second.
    public var frameRate: Double?
    /// Thousands of bits per second.
    public var videoBitrate: Double?
    /// The same in the second with the most.
    public var peakVideoBitrate: Double?
    /// The longest time from one key picture to the next, in seconds.
    public var keyInterval: Double?
    /// The codec of the pictures.
    public var videoCodec: VideoCodec?
    /// H.264's `profile_idc`: 66 Baseline, 77 Main, 100 High.
    public var profile: Int?
    /// H.264's `level_idc`: the level times ten.
    public var level: Int?
    /// The codec's configuration was another one before.
    public var hasChanged: Bool?
    /// Seconds that the stream is meant to last at most.
    public var duration: Double?
    /// The most pictures in a row that are shown before one that was sent ahead of them: B-frames.
    public var reorderedPictures: Int?
    /// The codec of the sound.
    public var audioCodec: AudioCodec?
    /// Samples per second.
    public var sampleRate: Int?
    /// Channels of sound.
    public var channels: Int?
    /// Thousands of bits per second.
    public var audioBitrate: Double?

    /// Figures of which nothing is known.
    public init() {}

    /// What a program, or a rendition of it, is meant to be.
    ///
    /// - Parameter rendition: A name on the program's ladder; of the sound by itself nothing is said about pictures.
    public init(_ program: ProgramConfiguration, rendition name: String? = nil) {
        audioCodec = .aac
        sampleRate = 48_000
        channels = 2
        audioBitrate = Double(program.audioBitrate)
        let rendition = program.ladder?.renditions.first { $0.name == name }
        guard name == nil || rendition != nil else { return }
        width = rendition?.width ?? program.width
        height = rendition?.height ?? program.height
        frameRate = (rendition?.frameRate ?? program.frameRate).perSecond
        videoBitrate = Double(rendition?.videoBitrate ?? program.videoBitrate)
        keyInterval = Double(program.keyInterval)
        videoCodec = .h264
        profile = 77
        reorderedPictures = 0
    }
}
