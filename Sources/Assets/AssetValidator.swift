import NIOCore
import Stage

/// Validates an upload while it is received: its format, file size and image dimensions.
struct AssetValidator {
    private(set) var format: AssetFormat?
    private(set) var size = 0
    private var head: [UInt8] = []
    private var frame = JPEGFrameHeader()

    /// - Throws: 53004 for an unknown format, or if the limits of the format are exceeded.
    mutating func append(_ chunk: ByteBuffer) throws(StageError) {
        size += chunk.readableBytes
        frame.append(chunk)
        if format == nil {
            head += chunk.readableBytesView.prefix(AssetFormat.headLength - head.count)
            if head.count == AssetFormat.headLength { try recognise() }
        }
        guard let format else { return }
        let limit = AssetStore.limit(of: format.kind)
        guard size <= limit else { throw .assetTooLarge(limit) }
        if format == .jpeg { try Self.check(frame.size) }
    }

    /// Returns the format at the end of the file.
    mutating func finish() throws(StageError) -> AssetFormat {
        if format == nil { try recognise() }
        guard let format else { throw .assetFormatUnknown }
        return format
    }

    private mutating func recognise() throws(StageError) {
        guard let found = AssetFormat(head: head) else { throw .assetFormatUnknown }
        format = found
        try Self.check(found == .jpeg ? frame.size : ImageSize(of: found, head: head))
    }

    /// Checks the image dimensions; an image without them may be damaged, which the mixer detects.
    private static func check(_ size: ImageSize?) throws(StageError) {
        guard let size, max(size.width, size.height) > Asset.longestSide else { return }
        throw .imageTooLarge(width: size.width, height: size.height)
    }
}

/// The pixel dimensions of an image, read from its file header without decoding.
struct ImageSize: Equatable {
    var width: Int
    var height: Int

    init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    /// Reads the dimensions from the first bytes; nil for a JPEG, which has them later, and if the header has none.
    ///
    /// - Parameter head: The first `AssetFormat.headLength` bytes, or all available.
    init?(of format: AssetFormat, head: [UInt8]) {
        guard let size = Self.read(format, head), size.width > 0, size.height > 0 else { return nil }
        self = size
    }

    private static func read(_ format: AssetFormat, _ head: [UInt8]) -> ImageSize? {
        switch format {
        case .png where has("IHDR", at: 12, of: head):
            size(big(4, at: 16, of: head), big(4, at: 20, of: head))
        case .gif:
            size(little(2, at: 6, of: head), little(2, at: 8, of: head))
        case .bmp where little(4, at: 14, of: head) == 12:
            size(little(2, at: 18, of: head), little(2, at: 20, of: head))
        case .bmp:
            // A negative height means rows from top to bottom.
            size(signed(at: 18, of: head), signed(at: 22, of: head))
        case .webp:
            webp(head)
        default:
            nil
        }
    }

    private static func webp(_ head: [UInt8]) -> ImageSize? {
        if has("VP8X", at: 12, of: head) {
            return size(little(3, at: 24, of: head).map { $0 + 1 }, little(3, at: 27, of: head).map { $0 + 1 })
        }
        if has("VP8L", at: 12, of: head), let bits = little(4, at: 21, of: head) {
            return size(bits & 0x3FFF + 1, bits >> 14 & 0x3FFF + 1)
        }
        guard has("VP8 ", at: 12, of: head) else { return nil }
        // The two bits above each value are a scaling hint.
        return size(little(2, at: 26, of: head).map { $0 & 0x3FFF }, little(2, at: 28, of: head).map { $0 & 0x3FFF })
    }

    private static func size(_ width: Int?, _ height: Int?) -> ImageSize? {
        guard let width, let height else { return nil }
        return ImageSize(width: width, height: height)
    }

    private static func has(_ name: String, at offset: Int, of head: [UInt8]) -> Bool {
        head.dropFirst(offset).starts(with: name.utf8)
    }

    private static func big(_ count: Int, at offset: Int, of head: [UInt8]) -> Int? {
        guard head.count >= offset + count else { return nil }
        return head[offset..<offset + count].reduce(0) { $0 << 8 | Int($1) }
    }

    private static func little(_ count: Int, at offset: Int, of head: [UInt8]) -> Int? {
        guard head.count >= offset + count else { return nil }
        return head[offset..<offset + count].reversed().reduce(0) { $0 << 8 | Int($1) }
    }

    private static func signed(at offset: Int, of head: [UInt8]) -> Int? {
        little(4, at: offset, of: head).map { Int(Int32(truncatingIfNeeded: $0).magnitude) }
    }
}

/// Finds the dimensions of a JPEG image in its first frame header while the file is received.
///
/// Buffers a few bytes only, regardless of segment lengths.
struct JPEGFrameHeader {
    /// The dimensions, once parsed.
    private(set) var size: ImageSize?
    /// Whether parsing has ended, with or without a result.
    private var isOver = false
    /// The remaining bytes of a segment to skip.
    private var skipped = 0
    /// The first bytes of the segment: two of the marker, two of the length and, for a frame header, five more.
    private var segment: [UInt8] = []

    mutating func append(_ chunk: ByteBuffer) {
        var rest = chunk.readableBytesView[...]
        while !isOver, let next = rest.first {
            if skipped > 0 {
                let count = min(skipped, rest.count)
                rest = rest.dropFirst(count)
                skipped -= count
            } else {
                rest = rest.dropFirst()
                segment.append(next)
                parseSegment()
            }
        }
    }

    private mutating func parseSegment() {
        switch segment.count {
        case 1: isOver = segment[0] != 0xFF
        case 2: parseMarker(segment[1])
        case 4 where !Self.isFrame(segment[1]):
            let length = Int(segment[2]) << 8 | Int(segment[3])
            isOver = length < 2
            skipped = max(length - 2, 0)
            segment = []
        case 9:
            let (height, width) = (Int(segment[5]) << 8 | Int(segment[6]), Int(segment[7]) << 8 | Int(segment[8]))
            if width > 0, height > 0 { size = ImageSize(width: width, height: height) }
            isOver = true
        default: break
        }
    }

    private mutating func parseMarker(_ code: UInt8) {
        switch code {
        // A fill byte before a marker.
        case 0xFF: segment = [0xFF]
        // Markers without a segment, including the start of the image.
        case 0x01, 0xD0...0xD8: segment = []
        // The end of the image, and entropy-coded data: no frame header can follow.
        case 0x00, 0xD9, 0xDA: isOver = true
        default: break
        }
    }

    private static func isFrame(_ code: UInt8) -> Bool {
        (0xC0...0xCF).contains(code) && ![0xC4, 0xC8, 0xCC].contains(code)
    }
}
