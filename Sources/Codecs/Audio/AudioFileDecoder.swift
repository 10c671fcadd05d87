import CFFmpeg
public import NIOCore

/// Decodes an audio file that lies in memory to 48 kHz stereo, a piece at a time and over again; owned by one thread.
///
/// MP3, AAC (ADTS), WAV, FLAC, and Ogg with Vorbis or Opus; other containers and codecs cannot be reached. What an
/// encoder put before and behind the music is left out where the file says how much that is, and the resampler runs on
/// from the end into the beginning, so a loop has no seam of ours.
public struct AudioFileDecoder: ~Copyable, Sendable {
    private let bytes: ByteBuffer
    private var reader: AudioFileReader
    private var context: CodecContext
    private let packet: PacketOwner
    private let frame: FrameOwner
    private var resampler: Resampler?
    private var format = AudioSourceFormat()
    /// The decoder was told that nothing more comes.
    private var isDraining = false

    /// Opens a file.
    ///
    /// - Throws: `.badData` for what is no such file, `.unavailable` for a codec that is not taken.
    public init(_ bytes: ByteBuffer) throws(CodecError) {
        let packet = try PacketOwner()
        let frame = try FrameOwner()
        let reader = try AudioFileReader(bytes)
        let context = try Self.open(reader)
        // Nothing throws from here on: the compiler cannot undo half an owner.
        self.bytes = bytes
        self.packet = packet
        self.frame = frame
        self.reader = reader
        self.context = context
        resampler = nil
    }

    private static func open(_ reader: borrowing AudioFileReader) throws(CodecError) -> CodecContext {
        try CodecContext(decoder: reader.decoder) { (context) throws(CodecError) in try reader.configure(context) }
    }

    /// Begins again at the file's start; the audio before it runs on into what comes.
    public mutating func rewind() throws(CodecError) {
        let reader = try AudioFileReader(bytes)
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
    /// - Throws: When the audio is of a kind that cannot be resampled.
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
        let present = AudioSourceFormat(of: frame.pointer)
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

/// Owns an audio file in memory, opened by libavformat, which sees nothing but these bytes.
///
/// `@unchecked Sendable`: a value that cannot be copied has one owner at a time.
struct AudioFileReader: ~Copyable, @unchecked Sendable {
    /// The only demuxers and decoders that a file can reach.
    private static let formats = "mp3,aac,wav,ogg,flac"
    private static let codecs =
        "mp3float,mp3,aac,flac,vorbis,libvorbis,opus,libopus,pcm_u8,pcm_s16le,pcm_s24le,pcm_s32le,pcm_f32le,pcm_f64le"
    private static let bufferSize: Int32 = 32_768

    private let context: UnsafeMutablePointer<AVFormatContext>
    private let input: UnsafeMutablePointer<AVIOContext>
    private let memory: Unmanaged<FileBytes>
    private let stream: Int32
    /// The decoder for the file's audio.
    let decoder: String

    init(_ bytes: ByteBuffer) throws(CodecError) {
        let memory = Unmanaged.passRetained(FileBytes(bytes))
        var input = try Self.makeInput(memory)
        do throws(CodecError) {
            let context = try Self.open(input)
            do throws(CodecError) {
                (stream, decoder) = try Self.findAudioStream(context)
            } catch {
                var released: UnsafeMutablePointer<AVFormatContext>? = context
                avformat_close_input(&released)
                throw error
            }
            self.context = context
        } catch {
            Self.release(&input, memory)
            throw error
        }
        self.input = input
        self.memory = memory
    }

    deinit {
        var released: UnsafeMutablePointer<AVFormatContext>? = context
        avformat_close_input(&released)
        var input = input
        Self.release(&input, memory)
    }

    private static func makeInput(
        _ memory: Unmanaged<FileBytes>
    ) throws(CodecError) -> UnsafeMutablePointer<AVIOContext> {
        guard let buffer = av_malloc(Int(bufferSize)) else {
            memory.release()
            throw CodecError(.outOfMemory, "a file in memory")
        }
        guard
            let input = avio_alloc_context(
                buffer.assumingMemoryBound(to: UInt8.self),
                bufferSize,
                0,
                memory.toOpaque(),
                readFileBytes,
                nil,
                seekFileBytes
            )
        else {
            av_free(buffer)
            memory.release()
            throw CodecError(.outOfMemory, "a file in memory")
        }
        return input
    }

    private static func release(_ input: inout UnsafeMutablePointer<AVIOContext>, _ memory: Unmanaged<FileBytes>) {
        // The library may have put another buffer in the place of the first one.
        av_free(input.pointee.buffer)
        var released: UnsafeMutablePointer<AVIOContext>? = input
        avio_context_free(&released)
        memory.release()
    }

    private static func open(
        _ input: UnsafeMutablePointer<AVIOContext>
    ) throws(CodecError) -> UnsafeMutablePointer<AVFormatContext> {
        var context = avformat_alloc_context()
        guard context != nil else { throw CodecError(.outOfMemory, "a file in memory") }
        context?.pointee.pb = input
        var options: OpaquePointer?
        defer { av_dict_free(&options) }
        av_dict_set(&options, "format_whitelist", formats, 0)
        av_dict_set(&options, "codec_whitelist", codecs, 0)
        // Frees the context when it fails.
        let status = avformat_open_input(&context, nil, nil, &options)
        guard status >= 0, let context else { throw CodecError(status, decoding: "an audio file") }
        return context
    }

    private static func findAudioStream(
        _ context: UnsafeMutablePointer<AVFormatContext>
    ) throws(CodecError) -> (stream: Int32, decoder: String) {
        var status = avformat_find_stream_info(context, nil)
        guard status >= 0 else { throw CodecError(status, decoding: "an audio file") }
        var codec: UnsafePointer<AVCodec>?
        status = av_find_best_stream(context, AVMEDIA_TYPE_AUDIO, -1, -1, &codec, 0)
        guard status >= 0, let codec, let name = codec.pointee.name else {
            throw CodecError(.badData, "a file without audio that can be decoded")
        }
        let decoder = String(cString: name)
        guard codecs.split(separator: ",").contains(Substring(decoder)) else {
            throw CodecError(.unavailable, "audio files of \(decoder)")
        }
        for index in 0..<Int(context.pointee.nb_streams) where index != Int(status) {
            context.pointee.streams[index]?.pointee.discard = AVDISCARD_ALL
        }
        return (status, decoder)
    }

    /// Gives a decoder what the file says about its audio.
    func configure(_ decoder: UnsafeMutablePointer<AVCodecContext>) throws(CodecError) {
        guard let stream = context.pointee.streams[Int(stream)] else { return }
        let status = avcodec_parameters_to_context(decoder, stream.pointee.codecpar)
        guard status >= 0 else { throw CodecError(status, doing: "a decoder of an audio file") }
        decoder.pointee.pkt_timebase = stream.pointee.time_base
    }

    /// Reads the next coded packet of audio into `packet`; false at the end, or where the file breaks off.
    func read(_ packet: UnsafeMutablePointer<AVPacket>) -> Bool {
        while av_read_frame(context, packet) >= 0 {
            if packet.pointee.stream_index == stream { return true }
            av_packet_unref(packet)
        }
        return false
    }
}

/// The bytes of a file, and how far they have been read; used from inside one library call at a time.
private final class FileBytes {
    private let bytes: ByteBuffer
    private var position = 0

    init(_ bytes: ByteBuffer) {
        self.bytes = bytes
    }

    func read(_ target: UnsafeMutablePointer<UInt8>, _ most: Int) -> Int32 {
        let count = min(most, bytes.readableBytes - position)
        guard count > 0 else { return c_averror_eof }
        bytes.withUnsafeReadableBytes { source in
            UnsafeMutableRawBufferPointer(start: target, count: count)
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: source[position..<position + count]))
        }
        position += count
        return Int32(count)
    }

    func seek(_ offset: Int64, _ whence: Int32) -> Int64 {
        let size = Int64(bytes.readableBytes)
        let base: Int64
        switch whence & ~Int32(AVSEEK_FORCE) {
        case Int32(AVSEEK_SIZE): return size
        case 0: base = 0
        case 1: base = Int64(position)
        case 2: base = size
        default: return Int64(c_averror_einval)
        }
        let (place, overflows) = base.addingReportingOverflow(offset)
        guard !overflows, (0...size).contains(place) else { return Int64(c_averror_einval) }
        position = Int(place)
        return place
    }
}

/// Called by libavformat on the thread that reads the file.
private nonisolated func readFileBytes(
    _ opaque: UnsafeMutableRawPointer?,
    _ target: UnsafeMutablePointer<UInt8>?,
    _ count: Int32
) -> Int32 {
    guard let opaque, let target else { return c_averror_einval }
    return Unmanaged<FileBytes>.fromOpaque(opaque).takeUnretainedValue().read(target, Int(count))
}

/// Called by libavformat on the thread that reads the file.
private nonisolated func seekFileBytes(_ opaque: UnsafeMutableRawPointer?, _ offset: Int64, _ whence: Int32) -> Int64 {
    guard let opaque else { return Int64(c_averror_einval) }
    return Unmanaged<FileBytes>.fromOpaque(opaque).takeUnretainedValue().seek(offset, whence)
}
