public import NIOCore

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
