import NIOCore
import Stage

/// Looks at what is uploaded while it arrives: what it is, and whether it is still small enough to be kept and drawn.
struct AssetCheck {
    private(set) var format: AssetFormat?
    private(set) var size = 0
    private var head: [UInt8] = []
    private var frame = JPEGFrameHeader()

    /// - Throws: 53004 for a file that is none of the formats, or too large for what it is.
    mutating func take(_ chunk: ByteBuffer) throws(StageError) {
        size += chunk.readableBytes
        frame.take(chunk)
        if format == nil {
            head += chunk.readableBytesView.prefix(AssetFormat.headLength - head.count)
            if head.count == AssetFormat.headLength { try recognise() }
        }
        guard let format else { return }
        let limit = AssetStore.limit(of: format.kind)
        guard size <= limit else { throw .assetTooLarge(limit) }
        if format == .jpeg { try Self.check(frame.size) }
    }

    /// At the end of the file.
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

    /// An image of which it is not said how large it is may be damaged, which its mixer finds out.
    private static func check(_ size: ImageSize?) throws(StageError) {
        guard let size, max(size.width, size.height) > Asset.longestSide else { return }
        throw .imageTooLarge(width: size.width, height: size.height)
    }
}
