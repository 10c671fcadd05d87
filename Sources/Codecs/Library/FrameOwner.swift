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
