import Media

/// The four-letter codec names of enhanced RTMP.
struct FourCC: Equatable {
    var code: UInt32

    init(code: UInt32) {
        self.code = code
    }

    init(_ name: StaticString) {
        code = name.withUTF8Buffer { $0.prefix(4).reduce(0) { $0 << 8 | UInt32($1) } }
    }

    /// What enhanced RTMP 2 calls the video codecs.
    var videoCodec: VideoCodec {
        switch self {
        case FourCC("avc1"): .h264
        case FourCC("hvc1"): .hevc
        case FourCC("av01"): .av1
        case FourCC("vp09"): .vp9
        case FourCC("vp08"): .vp8
        default: .unknown
        }
    }

    /// What enhanced RTMP 2 calls the audio codecs.
    var audioCodec: AudioCodec {
        switch self {
        case FourCC("mp4a"): .aac
        case FourCC(".mp3"): .mp3
        case FourCC("Opus"): .opus
        case FourCC("fLaC"): .flac
        case FourCC("ac-3"): .ac3
        case FourCC("ec-3"): .eac3
        default: .unknown
        }
    }
}
