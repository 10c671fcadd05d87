/// What is asked for when a livestream is started, with the defaults and bounds of what may be asked.
///
/// A room's program is made once for all who watch, so size and rates are demands that the program must meet, not wishes
/// that would change it. The two times are the livestream's own.
public struct LivestreamOptions: Sendable, Hashable {
    /// A named size; 1080p where neither it nor a size is given.
    public var quality: ProgramQuality?
    /// Pixels across, even, 160 to 1920.
    public var width: Int?
    /// Pixels down, even, 90 to 1920.
    public var height: Int?
    /// Pictures per second, 1 to 60.
    public var frameRate: FrameRate?
    /// Video kilobits per second, 10 to 10 000.
    public var videoBitrate: Int?
    /// Audio kilobits per second, 10 to 320.
    public var audioBitrate: Int?
    /// Seconds after which a started livestream stops by itself, 1 to 86 400.
    public var maximumDuration: Int
    /// Seconds with every host's mic and camera off after which it stops by itself, 1 to 86 400.
    public var minimumIdleTimeout: Int

    /// Makes options; what is left out is not asked for, or has its default.
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

    // MARK: With the defaults

    /// The width asked for, or that of the quality.
    public var effectiveWidth: Int { width ?? effectiveQuality.width }
    /// The height asked for, or that of the quality.
    public var effectiveHeight: Int { height ?? effectiveQuality.height }
    /// The rate of pictures asked for, or 30.
    public var effectiveFrameRate: FrameRate { frameRate ?? FrameRate(30) }
    /// The video rate asked for, or the one that suits the size and the rate of pictures.
    public var effectiveVideoBitrate: Int {
        videoBitrate
            ?? ProgramQuality.videoBitrate(
                width: effectiveWidth,
                height: effectiveHeight,
                frameRate: effectiveFrameRate
            )
    }
    /// The audio rate asked for, or 128.
    public var effectiveAudioBitrate: Int { audioBitrate ?? 128 }

    /// The quality asked for, or the largest one that fits into the size asked for.
    private var effectiveQuality: ProgramQuality {
        if let quality { return quality }
        guard let shorter = [width, height].compactMap({ $0 }).min() else { return .fullHD }
        return ProgramQuality.allCases.first { $0.height <= shorter } ?? .low
    }

    // MARK: Checks

    /// Checks every value against its range; names in errors are those of the control API.
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
        try StageError.check(maximumDuration, in: 1...86_400, field: "max_duration")
        try StageError.check(minimumIdleTimeout, in: 1...86_400, field: "min_idle_timeout")
    }

    /// Checks that the program is what was asked for; what was not asked for may be anything.
    ///
    /// - Throws: 3073 with the field's name and what the program has.
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
