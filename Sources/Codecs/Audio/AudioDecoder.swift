import CFFmpeg
public import Media
import NIOCore

/// A decoder for AAC and MP3 of any rate and channel layout, to 48 kHz stereo; owned by one thread.
///
/// Surround is folded down, a single channel goes to both sides at full level. Packet times are whole milliseconds, so
/// they waver by up to half of one against the samples; block times follow the samples and are drawn slowly to the
/// packets. A packet that is further off than `jumpTolerance` begins anew: its block is not continuous.
public struct AudioDecoder: ~Copyable, Sendable {
    /// How many milliseconds a packet's time may differ from where the samples put it.
    ///
    /// Less than one lost AAC frame at 48 kHz.
    public static let jumpTolerance = 18.0

    /// The share of that difference which each block takes over.
    private static let pull = 1.0 / 64

    private let context: CodecContext
    private var packet: PacketOwner
    private let frame: FrameOwner
    private var resampler: Resampler?
    /// What the resampler was made for.
    private var source = AudioSourceFormat()
    /// Where the next output sample belongs if nothing is missing, in milliseconds.
    private var expected: Double?

    /// Opens a decoder.
    ///
    /// - Parameters:
    ///   - codec: `.aac` or `.mp3`.
    ///   - configuration: For AAC a packet with the AudioSpecificConfig (ISO/IEC 14496-3, 1.6.2.1); MP3 has none.
    /// - Throws: `.unavailable` for other codecs, `.badConfiguration` when AAC comes without a readable configuration.
    public init(codec: AudioCodec, configuration: MediaPacket?) throws(CodecError) {
        let name: String
        switch codec {
        case .aac: name = "aac"
        case .mp3: name = "mp3float"
        default: throw CodecError(.unavailable, "no decoder for \(codec.rawValue)")
        }
        if codec == .aac {
            guard let configuration, configuration.content == .audioConfiguration(.aac),
                configuration.payload.readableBytes >= 2
            else {
                throw CodecError(.badConfiguration, "AAC without its AudioSpecificConfig")
            }
        }
        let packet = try PacketOwner()
        let frame = try FrameOwner()
        let context = try CodecContext(decoder: name) { (context) throws(CodecError) in
            if codec == .aac, let configuration {
                try CodecContext.setExtradata(configuration.payload, of: context)
            }
            context.pointee.pkt_timebase = AVRational(num: 1, den: 1000)
        }
        // Nothing throws from here on: the compiler cannot undo half an owner.
        self.packet = packet
        self.frame = frame
        self.context = context
        resampler = nil
    }

    /// Decodes one packet; calls `body` with the audio that is complete by it.
    ///
    /// - Throws: `.badData` when the packet is damaged; the decoder takes further packets.
    public mutating func decode(_ packet: MediaPacket, _ body: (AudioBlock) -> Void) throws(CodecError) {
        guard case .audio = packet.content else {
            throw CodecError(.wrongPacket, "not audio: \(packet.content)")
        }
        try self.packet.fill(packet.payload, presentation: packet.timestamp, decode: packet.timestamp)
        var status = avcodec_send_packet(context.pointer, self.packet.pointer)
        guard status >= 0 else { throw CodecError(status, decoding: "audio") }
        while true {
            status = avcodec_receive_frame(context.pointer, frame.pointer)
            if status == c_averror_eagain || status == c_averror_eof { return }
            guard status >= 0 else { throw CodecError(status, decoding: "audio") }
            defer { av_frame_unref(frame.pointer) }
            try adaptResampler(body)
            if let block = try resample() { body(block) }
        }
    }

    private mutating func adaptResampler(_ body: (AudioBlock) -> Void) throws(CodecError) {
        let present = AudioSourceFormat(of: frame.pointer)
        guard present != source else { return }
        let fresh = try present.makeResampler(for: frame.pointer)
        if let rest = try drain() { body(rest) }
        resampler = consume fresh
        source = present
    }

    private mutating func resample() throws(CodecError) -> AudioBlock? {
        let frame = frame.pointer
        let count = frame.pointee.nb_samples
        guard count > 0, let planes = frame.pointee.extended_data else { return nil }
        // The first sample that comes out is older than the packet by what the filter holds.
        let measured =
            frame.pointee.pts == c_av_nopts_value
            ? expected ?? 0 : Double(frame.pointee.pts) - (resampler?.delayMilliseconds ?? 0)
        let samples = SampleStorage(frameCount: resampler?.outputCapacity(for: count) ?? 0)
        guard let left = samples.left.baseAddress, let right = samples.right.baseAddress else { return nil }
        let input = UnsafeMutableRawPointer(planes).assumingMemoryBound(to: UnsafePointer<UInt8>?.self)
        let written = try resampler?.convert(
            input,
            count: count,
            left: left,
            right: right,
            capacity: samples.frameCapacity
        )
        return makeBlock(samples, count: written ?? 0, measured: measured)
    }

    /// What the filter held when the source's format changed.
    private mutating func drain() throws(CodecError) -> AudioBlock? {
        guard var last = resampler.take(), let expected else { return nil }
        let samples = SampleStorage(frameCount: last.outputCapacity(for: 0))
        guard samples.frameCapacity > 0, let left = samples.left.baseAddress, let right = samples.right.baseAddress
        else { return nil }
        let written = try last.convert(nil, count: 0, left: left, right: right, capacity: samples.frameCapacity)
        return makeBlock(samples, count: written, measured: expected)
    }

    private mutating func makeBlock(_ samples: SampleStorage, count: Int, measured: Double) -> AudioBlock? {
        guard count > 0 else { return nil }
        Self.removeNonsense(samples.left, count)
        Self.removeNonsense(samples.right, count)
        var start = measured
        var isContinuous = false
        if let expected, abs(measured - expected) <= Self.jumpTolerance {
            start = expected + (measured - expected) * Self.pull
            isContinuous = true
        }
        expected = start + Double(count) * 1000 / Double(AudioBlock.sampleRate)
        return AudioBlock(samples, frameCount: count, timestamp: start, isContinuous: isContinuous)
    }

    /// A damaged frame can decode to infinities; 18 dB over full scale is nothing anyone meant either.
    private static func removeNonsense(_ samples: UnsafeMutableBufferPointer<Float>, _ count: Int) {
        for index in 0..<count where !(abs(samples[index]) <= 8) {
            samples[index] = 0
        }
    }
}
