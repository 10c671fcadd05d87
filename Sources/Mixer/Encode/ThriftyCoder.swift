import Codecs
import Media
import NIOCore

/// A coder of pictures that can go on with more or less search.
///
/// The library takes a new bitrate for a coder at work, but no other effort; so another coder takes over where a key
/// picture begins everything anew. Players keep what they were told at the beginning: a coder whose parameter sets are
/// not byte for byte those of the first is not taken.
struct ThriftyCoder: ~Copyable, Sendable {
    private let settings: VideoEncoderConfiguration
    private var coder: VideoEncoder
    /// How much of its search it leaves out, 0 to 2.
    private var economy = 0

    /// - Throws: `CodecError` for settings that the library does not take.
    init(_ settings: VideoEncoderConfiguration) throws(CodecError) {
        let coder = try VideoEncoder(settings)
        self.settings = settings
        self.coder = coder
    }

    /// As `VideoEncoder.configuration`.
    var configuration: ByteBuffer { coder.configuration }

    /// As `VideoEncoder.encode`.
    mutating func encode(
        _ canvas: Canvas,
        index: Int64,
        timestamp: Int64,
        forceKey: Bool,
        _ body: (MediaPacket) -> Void
    ) throws(CodecError) {
        try coder.encode(canvas, index: index, timestamp: timestamp, forceKey: forceKey, body)
    }

    /// Leaves out so much of the search; to be called before a key picture.
    ///
    /// - Returns: Whether another coder took over.
    /// - Throws: `CodecError` when there is no other coder to be had; this one goes on.
    mutating func economise(to wanted: Int) throws(CodecError) -> Bool {
        guard wanted != economy else { return false }
        // Also where it does not come to that: what failed once is not tried with every key picture.
        economy = wanted
        let other = try VideoEncoder(settings.economised(wanted))
        guard other.configuration == coder.configuration else { return false }
        coder = other
        return true
    }
}
