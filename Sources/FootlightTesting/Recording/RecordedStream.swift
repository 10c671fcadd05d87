/// What a recording says of its picture or its sound.
public struct RecordedStream: Sendable, Equatable {
    /// Whether it is picture or sound.
    public var kind: RecordedPacket.Kind
    /// The codec by its name in ffmpeg, such as `h264` or `aac`.
    public var codec: String
    /// The profile of the codec, such as `High` or `LC`.
    public var profile: String
    /// Pixels; 0 for sound.
    public var width: Int
    /// Pixels; 0 for sound.
    public var height: Int
    /// The pixel format by its name in ffmpeg; empty for sound.
    public var pixelFormat: String
    /// `tv` for limited, `pc` for full, empty where the stream does not say.
    public var colourRange: String
    /// The matrix by its name in ffmpeg, such as `bt709`; empty where the stream does not say.
    public var colourMatrix: String
    /// Samples a second; 0 for a picture.
    public var sampleRate: Int
    /// Channels of sound; 0 for a picture.
    public var channels: Int
    /// How many frames a decoder must hold back to put them in order.
    public var reorderedFrames: Int
}
