import NIOCore
import Stage

/// Looks at what is uploaded while it arrives: what it is, and whether it is still small enough.
struct AssetCheck {
    private(set) var format: AssetFormat?
    private(set) var size = 0
    private var head: [UInt8] = []

    /// - Throws: 53004 for a file that is none of the formats, or too large for what it is.
    mutating func take(_ chunk: ByteBuffer) throws(StageError) {
        size += chunk.readableBytes
        if format == nil {
            head += chunk.readableBytesView.prefix(AssetFormat.headLength - head.count)
            if head.count == AssetFormat.headLength { try recognise() }
        }
        guard let format else { return }
        let limit = AssetStore.limit(of: format.kind)
        guard size <= limit else { throw .assetTooLarge(limit) }
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
    }
}
