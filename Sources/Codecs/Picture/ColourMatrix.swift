import CFFmpeg

/// How luma and chroma were made from red, green and blue (ITU-T H.273, MatrixCoefficients).
public enum ColourMatrix: Sendable, Equatable {
    case bt601
    case bt709
    case bt2020
    case smpte240

    /// The weight of red in luma.
    var red: Double {
        switch self {
        case .bt601: 0.299
        case .bt709: 0.2126
        case .bt2020: 0.2627
        case .smpte240: 0.212
        }
    }

    /// The weight of blue in luma.
    var blue: Double {
        switch self {
        case .bt601: 0.114
        case .bt709: 0.0722
        case .bt2020: 0.0593
        case .smpte240: 0.087
        }
    }

    /// The matrix a frame is tagged with; an untagged one is BT.601 at the sizes of standard definition, as players
    /// take it.
    init(tagged colourSpace: AVColorSpace, width: Int, height: Int) {
        switch colourSpace {
        case AVCOL_SPC_BT709: self = .bt709
        case AVCOL_SPC_BT470BG, AVCOL_SPC_SMPTE170M, AVCOL_SPC_FCC: self = .bt601
        case AVCOL_SPC_SMPTE240M: self = .smpte240
        case AVCOL_SPC_BT2020_NCL, AVCOL_SPC_BT2020_CL: self = .bt2020
        default: self = min(width, height) > 576 || max(width, height) >= 1280 ? .bt709 : .bt601
        }
    }
}
