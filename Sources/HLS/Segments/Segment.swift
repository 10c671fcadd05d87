public import NIOCore

/// A finished segment: its parts one after the other, without a copy.
public struct Segment: Sendable, Equatable {
    /// Media sequence number: one more than that of the segment before.
    public let sequence: Int
    /// The bytes of its parts, in order; together they are the file.
    public let parts: [ByteBuffer]
    /// When it begins, in seconds on the feed's clock, by decode time.
    public let start: Double
    /// Seconds until the next segment begins (EXTINF).
    public let duration: Double
    /// It begins with a picture that decoding can begin with.
    public let isIndependent: Bool
    /// Timestamps, encoder or tracks changed before it.
    public let isDiscontinuity: Bool
    /// Name of the initialization it needs.
    public let initialization: String
    /// Size of the file in bytes.
    public let byteCount: Int

    /// The file name, such as `s12.m4s`.
    public var name: String { MediaName.segment(sequence).text }
}
