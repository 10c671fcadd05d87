public import NIOCore

/// A piece of a segment that can be played as soon as it exists: one movie fragment with its media.
public struct Part: Sendable, Equatable {
    /// Media sequence number of the segment it belongs to.
    public let sequence: Int
    /// Its place in that segment, from 0.
    public let index: Int
    /// `moof` and `mdat`, shared by all requests.
    public let data: ByteBuffer
    /// When it begins, in seconds on the feed's clock, by decode time.
    public let start: Double
    /// Seconds until the next part begins.
    public let duration: Double
    /// It holds a picture that decoding can begin with.
    public let isIndependent: Bool
    /// Its segment begins a new discontinuity.
    public let isDiscontinuity: Bool
    /// Name of the initialization it needs.
    public let initialization: String

    /// Where it stands in the program.
    public var position: PartPosition { PartPosition(sequence: sequence, index: index) }

    /// The file name, such as `s12.p3.m4s`.
    public var name: String { position.name }
}
