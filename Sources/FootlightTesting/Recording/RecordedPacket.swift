/// One packet of a recording.
public struct RecordedPacket: Sendable, Equatable {
    /// The kind of stream it belongs to.
    public enum Kind: String, Sendable {
        case video
        case audio
    }

    /// The kind of stream it belongs to.
    public var kind: Kind
    /// When it is shown or heard, in seconds from the start of the recording.
    public var presentationTime: Double
    /// When it is decoded, in seconds from the start of the recording.
    public var decodeTime: Double
    /// When it is shown or heard, in units of the stream as the file has it.
    public var presentationTicks: Int64
    /// A decoder can start here.
    public var isKey: Bool
    /// Bytes.
    public var size: Int
}
