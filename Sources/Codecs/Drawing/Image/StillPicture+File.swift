import CFFmpeg
import CYUV
public import NIOCore

extension StillPicture {
    /// Reads the image in `file` at its own size and the right way up; of a moving one the first picture.
    ///
    /// PNG, JPEG, WebP, GIF and BMP are known by their content. Takes up to a second for the largest.
    ///
    /// - Throws: `.unavailable` for other kinds of files, `.tooLarge` beyond `ImageLimits`, `.badData` for a damaged one.
    public static func read(_ file: ByteBuffer) throws(CodecError) -> StillPicture {
        guard file.readableBytes <= ImageLimits.bytes else {
            throw CodecError(.tooLarge, "an image file of \(file.readableBytes) bytes")
        }
        guard let format = ImageFormat(sniffing: file) else {
            throw CodecError(.unavailable, "not an image of a known kind")
        }
        let content = try ImageFile.essence(of: file, format)
        let frame = try decode(content, by: format.decoder)
        let picture = try unpacked(frame.pointer)
        if ImageOrientation.hasAlpha(frame.pointer) {
            picture.withMutablePixels { pixels, stride in
                let (width, height) = (Int32(picture.width), Int32(picture.height))
                _ = ARGBAttenuate(pixels, Int32(stride), pixels, Int32(stride), width, height)
            }
        }
        guard let orientation = ImageOrientation(of: frame.pointer) else { return picture }
        return try orientation.applied(to: picture)
    }

    private static func decode(_ content: ByteBuffer, by decoder: String) throws(CodecError) -> FrameOwner {
        let context = try CodecContext(decoder: decoder) { context in
            context.pointee.max_pixels = Int64(ImageLimits.side * ImageLimits.side)
        }
        var packet = try PacketOwner()
        try packet.fill(content, presentation: 0, decode: 0)
        let frame = try FrameOwner()
        var status = avcodec_send_packet(context.pointer, packet.pointer)
        guard status >= 0 else { throw CodecError(status, decoding: "an image") }
        status = avcodec_receive_frame(context.pointer, frame.pointer)
        if status == c_averror_eagain {
            // It waits for more: there is no more.
            _ = avcodec_send_packet(context.pointer, nil)
            status = avcodec_receive_frame(context.pointer, frame.pointer)
        }
        guard status >= 0 else { throw CodecError(status, decoding: "an image") }
        let (width, height) = (Int(frame.pointer.pointee.width), Int(frame.pointer.pointee.height))
        guard (1...ImageLimits.side).contains(width), (1...ImageLimits.side).contains(height) else {
            throw CodecError(.tooLarge, "an image of \(width)x\(height)")
        }
        return frame
    }

    /// The frame's pixels as blue, green, red and alpha, not yet premultiplied.
    private static func unpacked(_ frame: UnsafeMutablePointer<AVFrame>) throws(CodecError) -> StillPicture {
        let picture = try StillPicture(width: Int(frame.pointee.width), height: Int(frame.pointee.height))
        let source = ImageConversion(of: frame)
        let converter = try source.context()
        defer { sws_freeContext(converter) }
        let status = picture.withMutablePixels { pixels, stride in
            var target: [UnsafeMutablePointer<UInt8>?] = [pixels, nil, nil, nil]
            var strides = [Int32(stride), 0, 0, 0]
            let (data, lines) = (frame.pointee.data, frame.pointee.linesize)
            let planes = [data.0, data.1, data.2, data.3].map { plane in plane.map { UnsafePointer($0) } }
            return sws_scale(
                converter,
                planes,
                [lines.0, lines.1, lines.2, lines.3],
                0,
                frame.pointee.height,
                &target,
                &strides
            )
        }
        guard status > 0 else { throw CodecError(.badData, "an image of an unusual pixel format") }
        return picture
    }
}
