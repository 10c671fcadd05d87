import CFFmpeg
import NIOCore

/// Owns one AVPacket and the padded memory its data is copied into.
///
/// libavcodec reads past the end of its input by up to AV_INPUT_BUFFER_PADDING_SIZE bytes, so network memory cannot be
/// handed over as it is. The copy goes to one buffer that is used again as soon as the decoder has let go of it.
///
/// `@unchecked Sendable`: a value that cannot be copied has one owner at a time.
struct PacketOwner: ~Copyable, @unchecked Sendable {
    /// The largest coded unit taken, far above any frame within `FrameLimits`.
    static let maximumSize = 16 << 20

    let pointer: UnsafeMutablePointer<AVPacket>
    private var memory: UnsafeMutablePointer<AVBufferRef>?

    init() throws(CodecError) {
        guard let packet = av_packet_alloc() else { throw CodecError(.outOfMemory, "a packet") }
        pointer = packet
        memory = nil
    }

    deinit {
        var packet: UnsafeMutablePointer<AVPacket>? = pointer
        av_packet_free(&packet)
        var buffer = memory
        av_buffer_unref(&buffer)
    }

    /// Fills the packet with a copy of `payload`.
    ///
    /// - Parameters:
    ///   - presentation: Presentation time in the codec's packet time base.
    ///   - decode: Decode time in the same unit.
    mutating func fill(_ payload: ByteBuffer, presentation: Int64, decode: Int64) throws(CodecError) {
        let size = payload.readableBytes
        // An empty packet would tell the decoder that the stream ends.
        guard size > 0 else { throw CodecError(.badData, "an empty packet") }
        guard size <= Self.maximumSize else { throw CodecError(.tooLarge, "a packet of \(size) bytes") }
        let padding = Int(AV_INPUT_BUFFER_PADDING_SIZE)
        let buffer = try writableMemory(size + padding)
        guard let data = buffer.pointee.data, let reference = av_buffer_ref(buffer) else {
            throw CodecError(.outOfMemory, "a packet of \(size) bytes")
        }
        payload.withUnsafeReadableBytes { bytes in
            UnsafeMutableRawBufferPointer(start: data, count: size).copyMemory(from: bytes)
        }
        (data + size).update(repeating: 0, count: padding)
        av_packet_unref(pointer)
        pointer.pointee.buf = reference
        pointer.pointee.data = data
        pointer.pointee.size = Int32(size)
        pointer.pointee.pts = presentation
        pointer.pointee.dts = decode
    }

    private mutating func writableMemory(_ size: Int) throws(CodecError) -> UnsafeMutablePointer<AVBufferRef> {
        // The packet's own reference to the last data would make that memory look shared.
        av_packet_unref(pointer)
        if let memory, Int(memory.pointee.size) >= size, av_buffer_is_writable(memory) == 1 { return memory }
        av_buffer_unref(&memory)
        // Room to grow by half: keyframes are many times larger than the others.
        guard let fresh = av_buffer_alloc(size + size / 2) else {
            throw CodecError(.outOfMemory, "a packet of \(size) bytes")
        }
        memory = fresh
        return fresh
    }
}

extension PacketOwner {
    /// The packet's data; valid until the packet is filled again or released.
    var bytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: pointer.pointee.data, count: Int(max(pointer.pointee.size, 0)))
    }
}
