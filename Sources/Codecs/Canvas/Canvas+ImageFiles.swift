import CFFmpeg
public import NIOCore

extension Canvas {
    /// The canvas as a JPEG file (JFIF: BT.601, full range).
    ///
    /// - Parameter quality: 2 is the best, 31 the smallest.
    public func jpeg(quality: Int = 4) throws(CodecError) -> ByteBuffer {
        let (width, height) = (Int32(width), Int32(height))
        let scale = Int32(min(max(quality, 2), 31)) * FF_QP2LAMBDA
        let encoder = try CodecContext(encoder: "mjpeg") { (context) throws(CodecError) in
            context.pointee.width = width
            context.pointee.height = height
            context.pointee.pix_fmt = AV_PIX_FMT_YUVJ420P
            context.pointee.color_range = AVCOL_RANGE_JPEG
            context.pointee.time_base = AVRational(num: 1, den: 1)
            context.pointee.flags |= AV_CODEC_FLAG_QSCALE
            context.pointee.global_quality = scale
        }
        // By way of RGB, for the program's matrix is another one than that of a JPEG.
        let colours = try FrameOwner()
        try colours.allocate(width: width, height: height, format: AV_PIX_FMT_RGB24)
        let converter = try ScalerOwner(width: width, height: height, from: AV_PIX_FMT_YUV420P, to: AV_PIX_FMT_RGB24)
        try converter.scale(from: shown, to: colours.pointer)
        let image = try FrameOwner()
        try image.allocate(width: width, height: height, format: AV_PIX_FMT_YUVJ420P)
        try Self.convert(colours.pointer, to: image.pointer, width: width, height: height)
        image.pointer.pointee.color_range = AVCOL_RANGE_JPEG
        image.pointer.pointee.quality = scale
        let packet = try PacketOwner()
        var status = avcodec_send_frame(encoder.pointer, image.pointer)
        guard status >= 0 else { throw CodecError(status, doing: "writing a JPEG") }
        status = avcodec_receive_packet(encoder.pointer, packet.pointer)
        guard status >= 0 else { throw CodecError(status, doing: "writing a JPEG") }
        return ByteBuffer(bytes: packet.bytes)
    }

    /// From RGB to what the format means by itself: BT.601 in full range.
    private static func convert(
        _ source: UnsafeMutablePointer<AVFrame>,
        to target: UnsafeMutablePointer<AVFrame>,
        width: Int32,
        height: Int32
    ) throws(CodecError) {
        let (from, to) = (AV_PIX_FMT_RGB24, AV_PIX_FMT_YUVJ420P)
        guard
            let context = sws_getContext(
                width,
                height,
                from,
                width,
                height,
                to,
                SWS_BILINEAR | SWS_ACCURATE_RND,
                nil,
                nil,
                nil
            )
        else { throw CodecError(.unavailable, "no conversion to a JPEG's colours") }
        defer { sws_freeContext(context) }
        let table = sws_getCoefficients(SWS_CS_ITU601)
        sws_setColorspaceDetails(context, table, 1, table, 1, 0, 1 << 16, 1 << 16)
        let status = sws_scale_frame(context, target, source)
        guard status >= 0 else { throw CodecError(status, doing: "converting a frame") }
    }
}

extension FrameOwner {
    /// Gives the frame memory for its samples.
    fileprivate func allocate(width: Int32, height: Int32, format: AVPixelFormat) throws(CodecError) {
        pointer.pointee.width = width
        pointer.pointee.height = height
        pointer.pointee.format = format.rawValue
        let status = av_frame_get_buffer(pointer, 0)
        guard status >= 0 else { throw CodecError(status, doing: "an image") }
    }
}

extension Canvas {
    /// The canvas as a PNG file, for people to look at.
    public func png() throws(CodecError) -> ByteBuffer {
        let (width, height) = (Int32(width), Int32(height))
        let encoder = try CodecContext(encoder: "png") { (context) throws(CodecError) in
            context.pointee.width = width
            context.pointee.height = height
            context.pointee.pix_fmt = AV_PIX_FMT_RGB24
            context.pointee.time_base = AVRational(num: 1, den: 1)
        }
        let image = try FrameOwner()
        image.pointer.pointee.width = width
        image.pointer.pointee.height = height
        image.pointer.pointee.format = AV_PIX_FMT_RGB24.rawValue
        var status = av_frame_get_buffer(image.pointer, 0)
        guard status >= 0 else { throw CodecError(status, doing: "an image") }
        let converter = try ScalerOwner(width: width, height: height, from: AV_PIX_FMT_YUV420P, to: AV_PIX_FMT_RGB24)
        try converter.scale(from: shown, to: image.pointer)
        let packet = try PacketOwner()
        status = avcodec_send_frame(encoder.pointer, image.pointer)
        guard status >= 0 else { throw CodecError(status, doing: "writing a PNG") }
        status = avcodec_receive_packet(encoder.pointer, packet.pointer)
        guard status >= 0 else { throw CodecError(status, doing: "writing a PNG") }
        return ByteBuffer(bytes: packet.bytes)
    }
}
