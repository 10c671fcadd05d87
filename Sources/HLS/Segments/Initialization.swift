public import NIOCore

/// What a player needs before the first segment: the tracks and their decoder configurations (`ftyp` and `moov`).
public struct Initialization: Sendable, Equatable {
    /// The file name, such as `init0.mp4`; unique within one `Segmenter`.
    public let name: String
    /// The whole file, shared by all requests.
    public let data: ByteBuffer
    /// The codecs as the multivariant playlist names them (RFC 6381), such as `avc1.64001F,mp4a.40.2`.
    public let codecs: String
    /// Shown picture size in pixels; nil for a program without video.
    public let width: Int?
    /// Shown picture size in pixels; nil for a program without video.
    public let height: Int?
    /// Pictures per second as the encoder states them; nil when it does not.
    public let frameRate: Double?
}
