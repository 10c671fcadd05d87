/// The encoding settings of a room's program: size, rates and encoder preset.
///
/// The defaults are accepted by every large platform: H.264 Main 1280x720 at 30 frames per second, 3000 kb/s constant,
/// a closed GOP of exactly two seconds, AAC-LC 48 kHz stereo at 128 kb/s.
public struct ProgramConfiguration: Sendable, Hashable, Codable {
    /// Canvas width in pixels, even, 160 to 1920.
    public var width: Int
    /// Canvas height in pixels, even, 90 to 1920.
    public var height: Int
    /// Frames per second.
    public var frameRate: FrameRate
    /// Video bitrate in kb/s, 10 to 10 000.
    public var videoBitrate: Int
    /// Audio bitrate in kb/s, 10 to 320.
    public var audioBitrate: Int
    /// The encoder preset.
    public var preset: Preset
    /// The keyframe interval in seconds.
    public var keyInterval: Int
    /// The jitter buffer target of hosts in milliseconds, 60 to 2000.
    public var jitterTarget: Int
    /// The renditions; nil for none.
    public var ladder: RenditionLadder?

    /// Creates a configuration; omitted values have their defaults.
    public init(
        width: Int = 1280,
        height: Int = 720,
        frameRate: FrameRate = FrameRate(30),
        videoBitrate: Int = 3000,
        audioBitrate: Int = 128,
        preset: Preset = .veryfast,
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

    /// The frames of one GOP.
    public var gopLength: Int {
        Int((frameRate.perSecond * Double(keyInterval)).rounded())
    }
}

extension ProgramConfiguration {
    /// The permitted x264 presets, the cheapest first.
    public enum Preset: String, Sendable, Hashable, Codable, CaseIterable {
        case ultrafast
        case superfast
        case veryfast
        case faster
        case fast
        case medium
    }

    /// Validates every value; names in errors are those of the control API.
    ///
    /// - Throws: 3073 with the field's name and its range.
    public func validate() throws(StageError) {
        try StageError.check(width, in: 160...1920, field: "program.width")
        try StageError.check(height, in: 90...1920, field: "program.height")
        guard width % 2 == 0 else { throw .invalidParameter("program.width", "must be even") }
        guard height % 2 == 0 else { throw .invalidParameter("program.height", "must be even") }
        try StageError.check(videoBitrate, in: 10...10_000, field: "program.video_bitrate")
        try StageError.check(audioBitrate, in: 10...320, field: "program.audio_bitrate")
        try StageError.check(keyInterval, in: 1...10, field: "program.key_interval")
        try StageError.check(jitterTarget, in: 60...2000, field: "program.jitter_target")
        guard frameRate.perSecond >= 1, frameRate.perSecond <= 60 else {
            throw .invalidParameter("program.fps", "must be between 1 and 60")
        }
        try ladder?.validate(in: self)
    }
}

/// A named size of the program with its default video bitrate.
public enum ProgramQuality: String, Sendable, Hashable, Codable, CaseIterable {
    case fullHD = "1080p"
    case hd = "720p"
    case standard = "480p"
    case low = "360p"

    /// The width in pixels in landscape.
    public var width: Int {
        switch self {
        case .fullHD: 1920
        case .hd: 1280
        case .standard: 854
        case .low: 640
        }
    }

    /// The height in pixels in landscape.
    public var height: Int {
        switch self {
        case .fullHD: 1080
        case .hd: 720
        case .standard: 480
        case .low: 360
        }
    }

    /// The default video bitrate in kb/s at up to 30 frames per second.
    public var videoBitrate: Int {
        switch self {
        case .fullHD: 5000
        case .hd: 3000
        case .standard: 2000
        case .low: 1000
        }
    }

    /// Returns the default video bitrate in kb/s for a size and a frame rate, 300 to 10 000 in steps of 100.
    ///
    /// A named size has its own bitrate; between two of them the bitrate is interpolated by pixels, and beyond them it
    /// is proportional to the pixels. Above 30 frames per second it grows to one and a half times as much at 60. Any
    /// size is accepted, validated or not.
    public static func videoBitrate(width: Int, height: Int, frameRate: FrameRate) -> Int {
        let pixels = max(Double(width) * Double(height), 0)
        let steps = allCases.map { (pixels: Double($0.width * $0.height), bitrate: Double($0.videoBitrate)) }
        guard let largest = steps.first, let smallest = steps.last else { return 0 }
        var bitrate = largest.bitrate * pixels / largest.pixels
        if pixels < smallest.pixels { bitrate = smallest.bitrate * pixels / smallest.pixels }
        for (above, below) in zip(steps, steps.dropFirst()) where (below.pixels...above.pixels).contains(pixels) {
            let part = (pixels - below.pixels) / (above.pixels - below.pixels)
            bitrate = below.bitrate + part * (above.bitrate - below.bitrate)
        }
        // An unvalidated rate may be NaN, for which the comparison is false.
        if frameRate.perSecond > 30 { bitrate *= 1 + min(frameRate.perSecond - 30, 30) / 60 }
        return Int(min(max((bitrate / 100).rounded() * 100, 300), 10_000))
    }
}

/// Frames per second as an exact fraction, so that 29.97 never drifts against the audio.
public struct FrameRate: Sendable, Hashable, Codable {
    /// Frames in `denominator` seconds.
    public let numerator: Int
    /// Seconds that `numerator` frames take.
    public let denominator: Int

    /// Creates a rate of `numerator` frames in `denominator` seconds.
    public init(_ numerator: Int, per denominator: Int = 1) {
        self.numerator = numerator
        self.denominator = denominator
    }

    /// Parses `30`, `29.97` (30000/1001), `59.94`, `23.976` or `30000/1001`; nil for anything outside 1 to 60.
    public init?(_ text: String) {
        switch text {
        case "23.976", "23.98": self.init(24000, per: 1001)
        case "29.97": self.init(30000, per: 1001)
        case "59.94": self.init(60000, per: 1001)
        default:
            let parts = text.split(separator: "/", omittingEmptySubsequences: false).map { Int($0) }
            guard let first = parts.first, let numerator = first, parts.count <= 2 else { return nil }
            guard let denominator = parts.count == 2 ? parts[1] : 1, denominator > 0, numerator > 0,
                denominator <= Self.largestDenominator, numerator >= denominator, numerator <= 60 * denominator
            else { return nil }
            self.init(numerator, per: denominator)
        }
    }

    /// Decodes a stored rate.
    ///
    /// - Throws: `DecodingError` for anything outside 1 to 60.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let numerator = try container.decode(Int.self, forKey: .numerator)
        let denominator = try container.decode(Int.self, forKey: .denominator)
        guard (1...Self.largestDenominator).contains(denominator), numerator >= denominator,
            numerator <= 60 * denominator
        else {
            throw DecodingError.dataCorruptedError(forKey: .numerator, in: container, debugDescription: "no frame rate")
        }
        self.init(numerator, per: denominator)
    }

    private enum CodingKeys: String, CodingKey {
        case numerator
        case denominator
    }

    /// Common rates have no larger denominator, and the sample arithmetic stays far from overflow.
    private static let largestDenominator = 1001

    /// The rate as a number, for display and estimates.
    public var perSecond: Double { Double(numerator) / Double(denominator) }

    /// Returns the 48 kHz sample at which frame `index` begins, rounded down from the exact fraction.
    public func sample(ofFrame index: Int64, sampleRate: Int64 = 48_000) -> Int64 {
        let (product, overflow) = index.multipliedReportingOverflow(by: sampleRate * Int64(denominator))
        precondition(!overflow, "the sample position overflows")
        return product / Int64(numerator)
    }
}

extension StageError {
    /// 53207: the program is not mixed, so there is no frame.
    public static let snapshotNotFound = StageError(
        code: 53207,
        name: "SnapshotNotFoundError",
        message: "There is no snapshot of the program",
        cause: "The room's program is not on, or has just begun",
        solution: "See that a host is on air, then ask again",
        status: 404,
        isRetryable: true
    )
}
