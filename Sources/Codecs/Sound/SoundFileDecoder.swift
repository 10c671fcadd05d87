import CFFmpeg
public import NIOCore

/// Decodes a sound file that lies in memory to 48 kHz stereo, a piece at a time and over again; owned by one thread.
///
/// MP3, AAC (ADTS), WAV, FLAC, and Ogg with Vorbis or Opus; other containers and codecs cannot be reached. What an
/// encoder put before and behind the music is left out where the file says how much that is, and the resampler runs on
/// from the end into the beginning, so a loop has no seam of ours.
public struct SoundFileDecoder: ~Copyable, Sendable {
    private let bytes: ByteBuffer
    private var reader: SoundFileReader
    private var context: CodecContext
    private let packet: PacketOwner
    private let frame: FrameOwner
    private var resampler: Resampler?
    private var format = SoundFormat()
    /// The decoder was told that nothing more comes.
    private var isDraining = false

    /// Opens a file.
    ///
    /// - Throws: `.badData` for what is no such file, `.unavailable` for a codec that is not taken.
    public init(_ bytes: ByteBuffer) throws(CodecError) {
        let packet = try PacketOwner()
        let frame = try FrameOwner()
        let reader = try SoundFileReader(bytes)
        let context = try Self.open(reader)
        // Nothing throws from here on: the compiler cannot undo half an owner.
        self.bytes = bytes
        self.packet = packet
        self.frame = frame
        self.reader = reader
        self.context = context
        resampler = nil
    }

    private static func open(_ reader: borrowing SoundFileReader) throws(CodecError) -> CodecContext {
        try CodecContext(decoder: reader.decoder) { (context) throws(CodecError) in try reader.configure(context) }
    }

    /// Begins again at the file's start; the sound before it runs on into what comes.
    public mutating func rewind() throws(CodecError) {
        let reader = try SoundFileReader(bytes)
        let context = try Self.open(reader)
        self.reader = reader
        self.context = context
        isDraining = false
    }

    /// Decodes the next piece, a few thousand samples at most; calls `body` with them, full scale at 1.0.
    ///
    /// Damaged frames are left out.
    ///
    /// - Returns: Whether there is more to come.
    /// - Throws: When the sound is of a kind that cannot be resampled.
    public mutating func decode(
        _ body: (_ left: UnsafeBufferPointer<Float>, _ right: UnsafeBufferPointer<Float>) -> Void
    ) throws(CodecError) -> Bool {
        while true {
            let status = avcodec_receive_frame(context.pointer, frame.pointer)
            if status >= 0 {
                defer { av_frame_unref(frame.pointer) }
                try resample(body)
                return true
            }
            // A decoder that fails while it is emptied has nothing more to say.
            guard status == c_averror_eagain, !isDraining else { return false }
            if reader.read(packet.pointer) {
                // What it says of a damaged packet is of no interest: it takes the next one.
                _ = avcodec_send_packet(context.pointer, packet.pointer)
                av_packet_unref(packet.pointer)
            } else {
                isDraining = true
                _ = avcodec_send_packet(context.pointer, nil)
            }
        }
    }

    private mutating func resample(
        _ body: (UnsafeBufferPointer<Float>, UnsafeBufferPointer<Float>) -> Void
    ) throws(CodecError) {
        let present = SoundFormat(of: frame.pointer)
        if present != format {
            resampler = try present.makeResampler(for: frame.pointer)
            format = present
        }
        let count = frame.pointer.pointee.nb_samples
        guard count > 0, let planes = frame.pointer.pointee.extended_data else { return }
        let samples = SampleStorage(frameCount: resampler?.outputCapacity(for: count) ?? 0)
        guard let left = samples.left.baseAddress, let right = samples.right.baseAddress else { return }
        let written =
            try resampler?.convert(
                UnsafeMutableRawPointer(planes).assumingMemoryBound(to: UnsafePointer<UInt8>?.self),
                count: count,
                left: left,
                right: right,
                capacity: samples.frameCapacity
            ) ?? 0
        for index in 0..<written {
            // A damaged file can hold anything.
            if !(abs(left[index]) <= 8) { left[index] = 0 }
            if !(abs(right[index]) <= 8) { right[index] = 0 }
        }
        body(
            UnsafeBufferPointer(rebasing: samples.left.prefix(written)),
            UnsafeBufferPointer(rebasing: samples.right.prefix(written))
        )
        withExtendedLifetime(samples) {}
    }
}
