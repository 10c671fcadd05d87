import Codecs
import Media
import NIOCore
import Stage

/// A video encoder whose motion search effort can change while it runs.
///
/// The library accepts a new bitrate for a running encoder, but no other preset; so another encoder takes over at a
/// keyframe. Players keep the parameter sets of the beginning: an encoder whose parameter sets are not identical byte
/// for byte to the first is not used.
struct AdaptiveEncoder: ~Copyable, Sendable {
    private let settings: VideoEncoderConfiguration
    private var encoder: VideoEncoder
    /// How much of its search the encoder skips, 0 to 2.
    private var speedLevel = 0

    /// - Throws: `CodecError` for settings that the library rejects.
    init(_ settings: VideoEncoderConfiguration) throws(CodecError) {
        let encoder = try VideoEncoder(settings)
        self.settings = settings
        self.encoder = encoder
    }

    /// The parameter sets; see `VideoEncoder.configuration`.
    var configuration: ByteBuffer { encoder.configuration }

    /// Encodes a frame; see `VideoEncoder.encode`.
    mutating func encode(
        _ canvas: Canvas,
        index: Int64,
        timestamp: Int64,
        forceKey: Bool,
        _ body: (MediaPacket) -> Void
    ) throws(CodecError) {
        try encoder.encode(canvas, index: index, timestamp: timestamp, forceKey: forceKey, body)
    }

    /// Changes how much of the search is skipped, 0 to 2; to be called before a keyframe.
    ///
    /// - Returns: Whether another encoder took over.
    /// - Throws: `CodecError` when no other encoder can be opened; the present one continues.
    mutating func setSpeedLevel(to level: Int) throws(CodecError) -> Bool {
        guard level != speedLevel else { return false }
        // Also when the change fails: it is not tried again with every keyframe.
        speedLevel = level
        let replacement = try VideoEncoder(settings.withSpeedLevel(level))
        guard replacement.configuration == encoder.configuration else { return false }
        encoder = replacement
        return true
    }
}

extension VideoEncoderConfiguration {
    /// Makes the encoder configuration of a program.
    init(_ program: ProgramConfiguration, options: String) {
        self.init(
            width: program.width,
            height: program.height,
            frameRateNumerator: program.frameRate.numerator,
            frameRateDenominator: program.frameRate.denominator,
            bitrate: program.videoBitrate * 1000,
            preset: program.preset.rawValue,
            keyInterval: program.gopLength,
            options: options
        )
    }

    /// Returns the configuration with a reduced search, 0 to 2.
    func withSpeedLevel(_ speedLevel: Int) -> VideoEncoderConfiguration {
        var other = self
        other.options = Self.options(options, of: preset, speedLevel: speedLevel)
        return other
    }

    /// Returns x264 parameters that skip some of the search (1) or nearly all of it (2).
    ///
    /// The preset stays the same: what presets change beside the search, such as the number of reference frames and the
    /// entropy coding, is part of the parameter sets. So is the chroma QP offset, which x264 lowers for psychovisual
    /// optimization: a reduced search has to keep it.
    static func options(_ options: String, of preset: String, speedLevel: Int) -> String {
        let further =
            switch speedLevel {
            case 1: "me=dia:subme=0:trellis=0:mixed-refs=0:partitions=i4x4"
            case 2: "me=dia:subme=0:trellis=0:mixed-refs=0:partitions=none:aq-mode=0:no-deblock=1"
            default: ""
            }
        let isPsychovisual = ["fast", "medium"].contains(preset) && !options.contains("subme=")
        let chroma = isPsychovisual && !further.isEmpty ? "chroma-qp-offset=-2" : ""
        return [options, further, chroma].filter { !$0.isEmpty }.joined(separator: ":")
    }
}
