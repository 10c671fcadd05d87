import CFFmpeg
public import Media
public import NIOCore

/// An AAC-LC encoder for 48 kHz stereo, owned by one thread.
///
/// Times come from an absolute counter of samples, never from adding up durations: the packet of the frame whose first
/// decoded sample is number n carries n * 1000 / 48 000 ms, rounded down.
public struct AudioEncoder: ~Copyable, Sendable {
    private static let frameLength = 1024
    private static let sampleRate = Int64(AudioBlock.sampleRate)

    private let context: CodecContext
    private let frame: FrameOwner
    private let packet: PacketOwner
    /// Samples already in `frame`.
    private var filled = 0
    /// The number of the sample that comes next if none is missing.
    private var nextSample: Int64?

    /// - Throws: `.badConfiguration` for a bit rate out of range.
    public init(_ configuration: AudioEncoderConfiguration = AudioEncoderConfiguration()) throws(CodecError) {
        guard (32_000...320_000).contains(configuration.bitrate) else {
            throw CodecError(.badConfiguration, "AAC at \(configuration.bitrate) bits per second")
        }
        let packet = try PacketOwner()
        let frame = try Self.makeFrame()
        // The fast coder takes half the time of the default one.
        let context = try CodecContext(encoder: "aac", options: [("aac_coder", "fast")]) {
            (context) throws(CodecError) in
            context.pointee.sample_fmt = AV_SAMPLE_FMT_FLTP
            context.pointee.sample_rate = Int32(Self.sampleRate)
            av_channel_layout_default(&context.pointee.ch_layout, 2)
            context.pointee.bit_rate = Int64(configuration.bitrate)
            context.pointee.time_base = AVRational(num: 1, den: Int32(Self.sampleRate))
            context.pointee.flags |= AV_CODEC_FLAG_GLOBAL_HEADER
        }
        guard context.pointer.pointee.frame_size == Int32(Self.frameLength) else {
            throw CodecError(.unavailable, "AAC frames of \(context.pointer.pointee.frame_size) samples")
        }
        // Nothing throws from here on: the compiler cannot undo half an owner.
        self.packet = packet
        self.frame = frame
        self.context = context
    }

    private static func makeFrame() throws(CodecError) -> FrameOwner {
        let frame = try FrameOwner()
        frame.pointer.pointee.format = AV_SAMPLE_FMT_FLTP.rawValue
        frame.pointer.pointee.sample_rate = Int32(sampleRate)
        frame.pointer.pointee.nb_samples = Int32(frameLength)
        av_channel_layout_default(&frame.pointer.pointee.ch_layout, 2)
        let status = av_frame_get_buffer(frame.pointer, 0)
        guard status >= 0 else { throw CodecError(status, doing: "an audio frame") }
        return frame
    }

    /// The AudioSpecificConfig (ISO/IEC 14496-3, 1.6.2.1).
    public var configuration: ByteBuffer { ByteBuffer(bytes: context.extradata) }

    /// Samples that the coder puts before the first one it was given; packet times already take them off.
    public var priming: Int { Int(context.pointer.pointee.initial_padding) }

    /// Codes `count` samples a channel; calls `body` for each packet that is complete by them.
    ///
    /// - Parameters:
    ///   - left: Full scale at 1.0.
    ///   - right: Full scale at 1.0.
    ///   - count: Any number of samples.
    ///   - firstSample: The number of the first one since the program began. If it is past the end of the last call,
    ///     the frame begun is filled up with silence and the next one begins at `firstSample`.
    /// - Throws: `.outOfOrder` when `firstSample` lies before the end of the last call.
    public mutating func encode(
        left: UnsafePointer<Float>,
        right: UnsafePointer<Float>,
        count: Int,
        firstSample: Int64,
        _ body: (MediaPacket) -> Void
    ) throws(CodecError) {
        if let nextSample, firstSample != nextSample {
            guard firstSample > nextSample else {
                throw CodecError(.outOfOrder, "sample \(firstSample) after \(nextSample)")
            }
            let end = nextSample + Int64(filled > 0 ? Self.frameLength - filled : 0)
            try finishFrame(body)
            // Silence cannot end after the audio that follows it.
            guard firstSample >= end else {
                let overlap = Int(min(end - firstSample, Int64(count)))
                self.nextSample = end
                try append(left + overlap, right + overlap, count - overlap, at: end, body)
                return
            }
        }
        try append(left, right, count, at: firstSample, body)
    }

    private mutating func append(
        _ left: UnsafePointer<Float>,
        _ right: UnsafePointer<Float>,
        _ count: Int,
        at firstSample: Int64,
        _ body: (MediaPacket) -> Void
    ) throws(CodecError) {
        var taken = 0
        while taken < count {
            if filled == 0 {
                // The encoder may still hold a reference to the last frame's memory.
                let status = av_frame_make_writable(frame.pointer)
                guard status >= 0 else { throw CodecError(status, doing: "an audio frame") }
                frame.pointer.pointee.pts = firstSample + Int64(taken)
            }
            let part = min(count - taken, Self.frameLength - filled)
            channel(0).advanced(by: filled).update(from: left + taken, count: part)
            channel(1).advanced(by: filled).update(from: right + taken, count: part)
            filled += part
            taken += part
            nextSample = firstSample + Int64(taken)
            if filled == Self.frameLength { try send(body) }
        }
    }

    private mutating func finishFrame(_ body: (MediaPacket) -> Void) throws(CodecError) {
        guard filled > 0 else { return }
        for index in 0..<2 {
            channel(index).advanced(by: filled).update(repeating: 0, count: Self.frameLength - filled)
        }
        try send(body)
    }

    private func channel(_ index: Int) -> UnsafeMutablePointer<Float> {
        // Both planes were allocated in `init`.
        guard let plane = frame.pointer.pointee.extended_data[index] else { preconditionFailure("no channel \(index)") }
        return UnsafeMutableRawPointer(plane).assumingMemoryBound(to: Float.self)
    }

    private mutating func send(_ body: (MediaPacket) -> Void) throws(CodecError) {
        filled = 0
        var status = avcodec_send_frame(context.pointer, frame.pointer)
        guard status >= 0 else { throw CodecError(status, doing: "encoding audio") }
        while true {
            status = avcodec_receive_packet(context.pointer, packet.pointer)
            if status == c_averror_eagain || status == c_averror_eof { return }
            guard status >= 0 else { throw CodecError(status, doing: "encoding audio") }
            let bytes = packet.bytes
            body(
                .aacFrame(timestamp: Self.milliseconds(packet.pointer.pointee.pts), capacity: bytes.count) {
                    $0.writeBytes(bytes)
                }
            )
            av_packet_unref(packet.pointer)
        }
    }

    /// Rounded down, also before zero.
    private static func milliseconds(_ sample: Int64) -> Int64 {
        let scaled = sample * 1000
        return scaled >= 0 ? scaled / sampleRate : -((-scaled + sampleRate - 1) / sampleRate)
    }
}

/// How the program's audio is coded: AAC-LC, 48 kHz, stereo.
public struct AudioEncoderConfiguration: Sendable, Hashable {
    /// Bits per second, 32 000 to 320 000.
    public var bitrate: Int

    /// - Parameter bitrate: Bits per second.
    public init(bitrate: Int = 128_000) {
        self.bitrate = bitrate
    }
}
