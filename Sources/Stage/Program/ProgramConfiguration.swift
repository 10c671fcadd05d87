/// What a room's program looks and sounds like: size, rates and encoder effort.
///
/// The defaults lie inside what every large platform accepts: H.264 Main 1280x720 at 30 pictures a second, 3000 kb/s
/// constant, a closed group of pictures of exactly two seconds, AAC-LC 48 kHz stereo at 128 kb/s.
public struct ProgramConfiguration: Sendable, Hashable, Codable {
    /// Canvas width in pixels, even, 160 to 1920.
    public var width: Int
    /// Canvas height in pixels, even, 90 to 1920.
    public var height: Int
    /// Pictures per second.
    public var frameRate: FrameRate
    /// Video bits per second in thousands, 10 to 10 000.
    public var videoBitrate: Int
    /// Audio bits per second in thousands, 10 to 320.
    public var audioBitrate: Int
    /// An x264 preset name, `ultrafast` to `medium`.
    public var preset: String
    /// Seconds between key pictures.
    public var keyInterval: Int
    /// Milliseconds a host's media is held back to even out its arrival, 60 to 2000.
    public var jitterTarget: Int
    /// What it is offered as beside itself; nil for nothing.
    public var ladder: RenditionLadder?

    /// Makes a configuration; what is not named has its default.
    public init(
        width: Int = 1280,
        height: Int = 720,
        frameRate: FrameRate = FrameRate(30),
        videoBitrate: Int = 3000,
        audioBitrate: Int = 128,
        preset: String = "veryfast",
        keyInterval: Int = 2,
        jitterTarget: Int = 300,
        ladder: RenditionLadder? = nil
    ) {
        self.width = width
        self.height = height
        self.frameRate = frameRate
        self.videoBitrate = videoBitrate
        self.audioBitrate = audioBitrate
        self.preset = preset
        self.keyInterval = keyInterval
        self.jitterTarget = jitterTarget
        self.ladder = ladder
    }

    /// Pictures from one key picture to the next.
    public var pictureGroupLength: Int {
        Int((frameRate.perSecond * Double(keyInterval)).rounded())
    }
}
