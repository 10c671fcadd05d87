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

    /// x264 parameters that leave out some of the search (1) or nearly all of it (2).
    ///
    /// The preset stays what it is: what presets change beside the search, such as the number of references and the
    /// entropy coding, is written in the parameter sets.
    static func options(_ options: String, economy: Int) -> String {
        let further =
            switch economy {
            case 1: "me=dia:subme=0:trellis=0:mixed-refs=0:partitions=i4x4"
            case 2: "me=dia:subme=0:trellis=0:mixed-refs=0:partitions=none:aq-mode=0:no-deblock=1"
            default: ""
            }
        return [options, further].filter { !$0.isEmpty }.joined(separator: ":")
    }
}
