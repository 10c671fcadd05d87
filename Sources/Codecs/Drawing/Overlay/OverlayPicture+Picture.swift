import CFFmpeg

extension OverlayPicture {
    /// The overlay as a picture that is drawn and scaled like a host's, for one that nothing is seen through.
    ///
    /// What can be seen through is mixed with black.
    ///
    /// - Throws: `.tooLarge` beyond `PictureLimits`.
    public func picture() throws(CodecError) -> Picture {
        guard max(width, height) <= PictureLimits.side, width * height <= PictureLimits.pixels else {
            throw CodecError(.tooLarge, "a picture of \(width)x\(height)")
        }
        let canvas = try Canvas(width: max(width, 16), height: max(height, 16))
        canvas.blend(self, x: 0, y: 0)
        // The canvas goes with this call; its memory stays with the picture.
        let frame = try FrameOwner()
        let status = av_frame_ref(frame.pointer, canvas.shown)
        guard status >= 0 else { throw CodecError(status, doing: "a picture") }
        frame.pointer.pointee.width = Int32(width)
        frame.pointer.pointee.height = Int32(height)
        return try Picture(moving: frame.pointer, presentationTimestamp: 0)
    }
}
