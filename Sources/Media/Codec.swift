/// A video codec as RTMP names it.
public enum VideoCodec: String, Sendable, Equatable, CaseIterable {
    case h264 = "H.264"
    case hevc = "HEVC"
    case av1 = "AV1"
    case vp9 = "VP9"
    case vp8 = "VP8"
    case sorensonH263 = "Sorenson H.263"
    case screenVideo = "Screen Video"
    case vp6 = "VP6"
    case unknown = "an unknown video codec"
}

/// An audio codec as RTMP names it.
public enum AudioCodec: String, Sendable, Equatable, CaseIterable {
    case aac = "AAC"
    case mp3 = "MP3"
    case opus = "Opus"
    case flac = "FLAC"
    case ac3 = "AC-3"
    case eac3 = "E-AC-3"
    case pcm = "PCM"
    case adpcm = "ADPCM"
    case nellymoser = "Nellymoser"
    case speex = "Speex"
    case g711 = "G.711"
    case unknown = "an unknown audio codec"
}
