public import NIOCore

/// What of an image file is handed to a decoder.
///
/// The decoders are made for much more than still images. What a small file could make them spend hours or gigabytes on
/// is left out or refused before they see it.
enum ImageFile {
    static func essence(of file: ByteBuffer, _ format: ImageFormat) throws(CodecError) -> ByteBuffer {
        switch format {
        case .png: try pixelChunks(of: file)
        case .jpeg: try withFewScans(file)
        case .webp: firstFrame(of: file)
        case .gif, .bmp: file
        }
    }

    /// A PNG file with nothing but its pixels: a profile or a comment may unpack to any size.
    private static func pixelChunks(of file: ByteBuffer) throws(CodecError) -> ByteBuffer {
        let needed: Set = ["IHDR", "PLTE", "tRNS", "IDAT", "IEND"]
        var (file, result) = (file, ByteBuffer())
        result.reserveCapacity(file.readableBytes)
        if var signature = file.readSlice(length: 8) { result.writeBuffer(&signature) }
        while file.readableBytes >= 12 {
            guard let length = file.getInteger(at: file.readerIndex, as: UInt32.self),
                let name = file.getString(at: file.readerIndex + 4, length: 4),
                var chunk = file.readSlice(length: Int(length) + 12)
            else {
                throw CodecError(.badData, "a PNG file that is cut short")
            }
            if needed.contains(name) { result.writeBuffer(&chunk) }
            if name == "IEND" { break }
        }
        return result
    }

    private static func withFewScans(_ file: ByteBuffer) throws(CodecError) -> ByteBuffer {
        let scans = file.withUnsafeReadableBytes { bytes in
            var count = 0
            var wasMarker = false
            for byte in bytes {
                if wasMarker, byte == 0xDA { count += 1 }
                wasMarker = byte == 0xFF
            }
            return count
        }
        guard scans <= ImageLimits.scans else { throw CodecError(.tooLarge, "a JPEG file of \(scans) scans") }
        return file
    }

    /// A WebP file; of a moving one the first frame as a file of its own.
    private static func firstFrame(of file: ByteBuffer) -> ByteBuffer {
        var chunks = file
        chunks.moveReaderIndex(forwardBy: 12)
        while let name = chunks.readString(length: 4),
            let length = chunks.readInteger(endianness: .little, as: UInt32.self)
        {
            // Chunks are padded to an even length.
            guard let body = chunks.readSlice(length: min(Int(length) + Int(length & 1), chunks.readableBytes)) else {
                break
            }
            if name == "ANMF" { return stillFile(of: body) ?? file }
        }
        return file
    }

    /// - Parameter frame: Position, size and timing of a moving file's frame in 16 bytes, then its own chunks.
    private static func stillFile(of frame: ByteBuffer) -> ByteBuffer? {
        var frame = frame
        guard let head = frame.readBytes(length: 16) else { return nil }
        var body = ByteBuffer(string: "WEBPVP8X")
        body.writeInteger(10, endianness: .little, as: UInt32.self)
        // There may be alpha.
        body.writeBytes([0x10, 0, 0, 0])
        // Width and height less one, three bytes each, as they stand.
        body.writeBytes(head[6..<12])
        body.writeBuffer(&frame)
        var file = ByteBuffer(string: "RIFF")
        file.writeInteger(UInt32(body.readableBytes), endianness: .little)
        file.writeBuffer(&body)
        return file
    }
}

/// The kinds of image files that are read.
public enum ImageFormat: String, Sendable, CaseIterable {
    case png
    case jpeg
    case webp
    case gif
    case bmp

    /// What `file` says it is by its first bytes; nil for anything else.
    public init?(sniffing file: ByteBuffer) {
        let bytes = file.getBytes(at: file.readerIndex, length: min(file.readableBytes, 12)) ?? []
        if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
            self = .png
        } else if bytes.starts(with: [0xFF, 0xD8, 0xFF]) {
            self = .jpeg
        } else if bytes.starts(with: "RIFF".utf8), bytes.dropFirst(8).elementsEqual("WEBP".utf8) {
            self = .webp
        } else if bytes.starts(with: "GIF87a".utf8) || bytes.starts(with: "GIF89a".utf8) {
            self = .gif
        } else if bytes.starts(with: "BM".utf8), bytes.count == 12 {
            self = .bmp
        } else {
            return nil
        }
    }

    /// The name of the decoder in libavcodec.
    var decoder: String { self == .jpeg ? "mjpeg" : rawValue }
}

/// The largest image files that are taken.
public enum ImageLimits {
    /// Bytes of a file.
    public static let bytes = 5 << 20
    /// Longest side in pixels.
    public static let side = 4096
    /// Scans of a progressive JPEG: each goes over the whole image, however few bytes it has.
    static let scans = 64
}
