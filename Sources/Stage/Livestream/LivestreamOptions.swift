/// The options of a livestream, with their defaults and bounds.
///
/// A room's program is encoded once for all viewers, so size and rates are requirements that the program must meet.
/// The two durations belong to the livestream.
public struct LivestreamOptions: Sendable, Hashable {
    /// The longest duration in seconds: a year.
    public static let longestDuration = 31_536_000

    /// A named size; 1080p without a name or a size.
    public var quality: ProgramQuality?
    /// Width in pixels, even, 160 to 1920.
    public var width: Int?
    /// Height in pixels, even, 90 to 1920.
    public var height: Int?
    /// Frames per second, 1 to 60.
    public var frameRate: FrameRate?
    /// Video kilobits per second, 10 to 10 000.
    public var videoBitrate: Int?
    /// Audio kilobits per second, 10 to 320.
    public var audioBitrate: Int?
    /// Seconds after which the livestream stops, 1 to `longestDuration`.
    public var maximumDuration: Int
    /// Seconds with every host's microphone and camera off after which the livestream stops, 1 to `longestDuration`.
    public var minimumIdleTimeout: Int

    /// Creates options; omitted values are not required, or have their defaults.
    public init(
        quality: ProgramQuality? = nil,
        width: Int? = nil,
        height: Int? = nil,
        frameRate: FrameRate? = nil,
        videoBitrate: Int? = nil,
        audioBitrate: Int? = nil,
        maximumDuration: Int = 10_800,
        minimumIdleTimeout: Int = 300
    ) {
        self.quality = quality
        self.width = width
        self.height = height
        self.frameRate = frameRate
        self.videoBitrate = videoBitrate
        self.audioBitrate = audioBitrate
        self.maximumDuration = maximumDuration
        self.minimumIdleTimeout = minimumIdleTimeout
    }

    // MARK: Effective values

    /// The required width, or that of the quality.
    public var effectiveWidth: Int { width ?? effectiveQuality.width }
    /// The required height, or that of the quality.
    public var effectiveHeight: Int { height ?? effectiveQuality.height }
    /// The required frame rate, or 30.
    public var effectiveFrameRate: FrameRate { frameRate ?? FrameRate(30) }
    /// The required video bitrate, or the default for the size and the frame rate.
    public var effectiveVideoBitrate: Int {
        videoBitrate
            ?? ProgramQuality.videoBitrate(
                width: effectiveWidth,
                height: effectiveHeight,
                frameRate: effectiveFrameRate
            )
    }
    /// The required audio bitrate, or 128.
    public var effectiveAudioBitrate: Int { audioBitrate ?? 128 }

    /// The required quality, or the largest one that fits into the required size.
    private var effectiveQuality: ProgramQuality {
        if let quality { return quality }
        guard let shorter = [width, height].compactMap({ $0 }).min() else { return .fullHD }
        return ProgramQuality.allCases.first { $0.height <= shorter } ?? .low
    }

    // MARK: Validation

    /// Validates every value; names in errors are those of the control API.
    ///
    /// - Throws: 3073 with the field's name and its range.
    public func validate() throws(StageError) {
        if let width {
            try StageError.check(width, in: 160...1920, field: "width")
            guard width.isMultiple(of: 2) else { throw .invalidParameter("width", "must be even") }
        }
        if let height {
            try StageError.check(height, in: 90...1920, field: "height")
            guard height.isMultiple(of: 2) else { throw .invalidParameter("height", "must be even") }
        }
        if let rate = frameRate?.perSecond, !(rate >= 1 && rate <= 60) {
            throw .invalidParameter("fps", "must be between 1 and 60")
        }
        try StageError.check(effectiveVideoBitrate, in: 10...10_000, field: "video_bitrate")
        try StageError.check(effectiveAudioBitrate, in: 10...320, field: "audio_bitrate")
        try StageError.check(maximumDuration, in: 1...Self.longestDuration, field: "max_duration")
        try StageError.check(minimumIdleTimeout, in: 1...Self.longestDuration, field: "min_idle_timeout")
    }

    /// Checks that the program meets the requirements.
    ///
    /// - Throws: 3073 with the field's name and the program's value.
    public func requireMatch(_ program: ProgramConfiguration) throws(StageError) {
        let shorter = min(program.width, program.height)
        if let quality, quality.height != shorter { throw Self.mismatch("quality", "\(shorter)p") }
        try Self.require("width", width, is: program.width)
        try Self.require("height", height, is: program.height)
        try Self.require("video_bitrate", videoBitrate, is: program.videoBitrate)
        try Self.require("audio_bitrate", audioBitrate, is: program.audioBitrate)
        let made = program.frameRate
        if let frameRate, frameRate.perSecond != made.perSecond {
            throw Self.mismatch("fps", made.denominator == 1 ? "\(made.numerator)" : "\(made.perSecond)")
        }
    }

    private static func require(_ field: String, _ value: Int?, is made: Int) throws(StageError) {
        if let value, value != made { throw mismatch(field, "\(made)") }
    }

    private static func mismatch(_ field: String, _ made: String) -> StageError {
        .invalidParameter(field, "must be \(made), as the room's program is made")
    }
}
