/// How many pixels an image has, as its file's header says; nothing is decoded.
struct ImageSize: Equatable {
    var width: Int
    var height: Int

    init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    /// Reads it from the first bytes of a file; nil for a JPEG, which says it further on, and where it is not said.
    ///
    /// - Parameter head: The first `AssetFormat.headLength` bytes, or all there are.
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
            // A height below zero says that the lines go from top to bottom.
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
        // Two bits above each say how to enlarge it for display.
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
