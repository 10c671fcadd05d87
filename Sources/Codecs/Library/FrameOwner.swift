import CFFmpeg

/// Owns one AVFrame: a decoder's output slot, or an encoder's input.
///
/// `@unchecked Sendable`: a value that cannot be copied has one owner at a time.
struct FrameOwner: ~Copyable, @unchecked Sendable {
    let pointer: UnsafeMutablePointer<AVFrame>

    init() throws(CodecError) {
        guard let frame = av_frame_alloc() else { throw CodecError(.outOfMemory, "a frame") }
        pointer = frame
    }

    deinit {
        var released: UnsafeMutablePointer<AVFrame>? = pointer
        av_frame_free(&released)
    }
}

extension FrameOwner {
    /// A new frame that refers to what `source` did, for the caller to free; `source` is blank afterwards.
    static func move(
        from source: UnsafeMutablePointer<AVFrame>
    ) throws(CodecError) -> UnsafeMutablePointer<AVFrame> {
        guard let frame = av_frame_alloc() else { throw CodecError(.outOfMemory, "a frame") }
        av_frame_move_ref(frame, source)
        return frame
    }
}

/// Hands out 8-bit 4:2:0 frames of one size from memory that is used again when the last reference goes.
///
/// `@unchecked Sendable`: a value that cannot be copied has one owner at a time; a frame may outlive it and may be
/// released on any thread, which libavutil's pools allow.
struct FramePool: ~Copyable, @unchecked Sendable {
    /// Rows begin on cache lines, which also suits the widest vector loads.
    private static let alignment: Int32 = 64

    private let pool: OpaquePointer
    private let width: Int32
    private let height: Int32

    init(width: Int32, height: Int32) throws(CodecError) {
        let size = av_image_get_buffer_size(AV_PIX_FMT_YUV420P, width, height, Self.alignment)
        guard size > 0 else { throw CodecError(size, doing: "a pool of \(width)x\(height) frames") }
        guard let pool = av_buffer_pool_init(Int(size) + Int(Self.alignment), nil) else {
            throw CodecError(.outOfMemory, "a pool of \(width)x\(height) frames")
        }
        self.pool = pool
        self.width = width
        self.height = height
    }

    deinit {
        var released: OpaquePointer? = pool
        av_buffer_pool_uninit(&released)
    }

    /// Gives the blank `frame` its size, format and planes.
    func fill(_ frame: UnsafeMutablePointer<AVFrame>) throws(CodecError) {
        guard let buffer = av_buffer_pool_get(pool) else { throw CodecError(.outOfMemory, "a frame") }
        frame.pointee.format = AV_PIX_FMT_YUV420P.rawValue
        frame.pointee.width = width
        frame.pointee.height = height
        frame.pointee.buf.0 = buffer
        // Both fields are arrays of eight in C, which Swift shows as tuples.
        let status = withUnsafeMutablePointer(to: &frame.pointee.data) { data in
            withUnsafeMutablePointer(to: &frame.pointee.linesize) { strides in
                av_image_fill_arrays(
                    UnsafeMutableRawPointer(data).assumingMemoryBound(to: UnsafeMutablePointer<UInt8>?.self),
                    UnsafeMutableRawPointer(strides).assumingMemoryBound(to: Int32.self),
                    buffer.pointee.data,
                    AV_PIX_FMT_YUV420P,
                    width,
                    height,
                    Self.alignment
                )
            }
        }
        guard status >= 0 else { throw CodecError(status, doing: "laying out a frame") }
    }
}
