import Codecs
import Stage

extension VideoEncoderConfiguration {
    /// How a program's pictures are coded.
    init(_ program: ProgramConfiguration, options: String) {
        self.init(
            width: program.width,
            height: program.height,
            frameRateNumerator: program.frameRate.numerator,
            frameRateDenominator: program.frameRate.denominator,
            bitrate: program.videoBitrate * 1000,
            preset: program.preset,
            keyInterval: program.pictureGroupLength,
            options: options
        )
    }

    /// The same with so much less search, 0 to 2.
    func economised(_ economy: Int) -> VideoEncoderConfiguration {
        var other = self
        other.options = Self.options(options, of: preset, economy: economy)
        return other
    }

    /// x264 parameters that leave out some of the search (1) or nearly all of it (2).
    ///
    /// The preset stays what it is: what presets change beside the search, such as the number of references and the
    /// entropy coding, is written in the parameter sets. So is how much better than the rest chroma is coded, which x264
    /// makes more of where it searches for what looks best: a lesser search has to keep it.
    static func options(_ options: String, of preset: String, economy: Int) -> String {
        let further =
            switch economy {
            case 1: "me=dia:subme=0:trellis=0:mixed-refs=0:partitions=i4x4"
            case 2: "me=dia:subme=0:trellis=0:mixed-refs=0:partitions=none:aq-mode=0:no-deblock=1"
            default: ""
            }
        let isPsychovisual = ["fast", "medium"].contains(preset) && !options.contains("subme=")
        let chroma = isPsychovisual && !further.isEmpty ? "chroma-qp-offset=-2" : ""
        return [options, further, chroma].filter { !$0.isEmpty }.joined(separator: ":")
    }
}
