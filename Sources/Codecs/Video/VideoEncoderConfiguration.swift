/// How the program's frame is coded: H.264 Main by x264, constant bit rate, closed groups of one exact length.
public struct VideoEncoderConfiguration: Sendable, Hashable {
    /// The preset unless told otherwise.
    public static let usualPreset = "veryfast"
    /// The search effort of the usual preset unless told otherwise: two fifths less CPU than its own.
    ///
    /// What less search loses in SSIM is won back where it costs nothing. What is busy gives up fewer of its bits to
    /// what is even. Keyframes are better, for what follows is made of them, and live coding has no look-ahead that
    /// would see so. And nothing is spent on weights of whole frames, since a program fades by tiles.
    public static let usualOptions = "subme=1:partitions=i4x4:weightp=0:aq-strength=0.5:ipratio=1.6"

    /// The options of a preset unless told otherwise: who asks for another than the usual one gets all of it.
    public static func usualOptions(of preset: String) -> String { preset == usualPreset ? usualOptions : "" }

    /// Pixels, even.
    public var width: Int
    /// Pixels, even.
    public var height: Int
    /// Frames per second as a fraction.
    public var frameRateNumerator: Int
    /// The seconds in which `frameRateNumerator` frames come.
    public var frameRateDenominator: Int
    /// Bits per second.
    public var bitrate: Int
    /// An x264 preset, `ultrafast` to `medium`.
    public var preset: String
    /// Frames from one keyframe to the next.
    public var keyInterval: Int
    /// Further x264 parameters, `name=value` parted by colons; they come last and so win.
    public var options: String

    /// The defaults lie inside what every large platform takes.
    ///
    /// - Parameter options: nil takes those of the preset.
    public init(
        width: Int = 1280,
        height: Int = 720,
        frameRateNumerator: Int = 30,
        frameRateDenominator: Int = 1,
        bitrate: Int = 3_000_000,
        preset: String = Self.usualPreset,
        keyInterval: Int = 60,
        options: String? = nil
    ) {
        self.width = width
        self.height = height
        self.frameRateNumerator = frameRateNumerator
        self.frameRateDenominator = frameRateDenominator
        self.bitrate = bitrate
        self.preset = preset
        self.keyInterval = keyInterval
        self.options = options ?? Self.usualOptions(of: preset)
    }

    func validate() throws(CodecError) {
        let limits = 16...FrameLimits.side
        guard limits.contains(width), limits.contains(height), width % 2 == 0, height % 2 == 0 else {
            throw CodecError(.badConfiguration, "frames of \(width)x\(height)")
        }
        guard (1...1_000_000).contains(frameRateNumerator), (1...1_000_000).contains(frameRateDenominator) else {
            throw CodecError(.badConfiguration, "\(frameRateNumerator)/\(frameRateDenominator) frames per second")
        }
        guard (1_000...200_000_000).contains(bitrate), (1...1000).contains(keyInterval) else {
            throw CodecError(.badConfiguration, "\(bitrate) bits per second, a keyframe every \(keyInterval)")
        }
    }

    /// What libx264 is told beyond the fields of the codec context.
    var codecOptions: [(name: String, value: String)] {
        var parameters = "scenecut=0:open-gop=0:bframes=0:sliced-threads=0:keyint=\(keyInterval):min-keyint=1"
        if !options.isEmpty { parameters += ":" + options }
        return [
            ("preset", preset),
            ("tune", "zerolatency"),
            ("profile", "main"),
            // A forced keyframe is one that a player can begin with.
            ("forced-idr", "1"),
            // Filler keeps the rate up where a platform asks for a strictly constant one.
            ("nal-hrd", "cbr"),
            ("x264-params", parameters),
        ]
    }
}
