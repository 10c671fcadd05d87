import NIOCore

/// Finds the size of a JPEG image as its file arrives: it stands in the first frame header, behind other segments.
///
/// Keeps a few bytes, however long those are.
struct JPEGFrameHeader {
    /// The size, once its place has come.
    private(set) var size: ImageSize?
    /// Nothing more is looked for: it is found, or this is no JPEG that says it.
    private var isOver = false
    /// Bytes of a segment that are nothing but passed over.
    private var skipped = 0
    /// The segment's first bytes: its marker of two, its length of two, and of a frame header five more.
    private var segment: [UInt8] = []

    mutating func take(_ chunk: ByteBuffer) {
        var rest = chunk.readableBytesView[...]
        while !isOver, let next = rest.first {
            if skipped > 0 {
                let count = min(skipped, rest.count)
                rest = rest.dropFirst(count)
                skipped -= count
            } else {
                rest = rest.dropFirst()
                segment.append(next)
                look()
            }
        }
    }

    private mutating func look() {
        switch segment.count {
        case 1: isOver = segment[0] != 0xFF
        case 2: lookAtMarker(segment[1])
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

    private mutating func lookAtMarker(_ code: UInt8) {
        switch code {
        // One more byte of those that may stand before a marker.
        case 0xFF: segment = [0xFF]
        // Markers without a segment, the file's beginning among them.
        case 0x01, 0xD0...0xD8: segment = []
        // The file's end, and coded pixels: no frame header comes before what belongs to it.
        case 0x00, 0xD9, 0xDA: isOver = true
        default: break
        }
    }

    private static func isFrame(_ code: UInt8) -> Bool {
        (0xC0...0xCF).contains(code) && ![0xC4, 0xC8, 0xCC].contains(code)
    }
}
