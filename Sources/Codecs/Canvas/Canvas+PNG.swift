import CFFmpeg
public import NIOCore

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
