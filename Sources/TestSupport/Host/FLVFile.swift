public import Media
public import NIOCore
import Foundation

/// An FLV file as a list of tags (Adobe FLV specification 10.1, annex E).
public struct FLVFile: Sendable {
    /// A tag.
    public struct Tag: Sendable {
        /// 8 audio, 9 video, 18 script data.
        public var type: UInt8
        /// The timestamp in milliseconds.
        public var timestamp: Int64
        /// The body, including the codec header.
        public var body: ByteBuffer
    }

    /// The tags in file order.
    public var tags: [Tag]

    /// Reads a file; an incomplete tag at the end is omitted.
    ///
    /// - Throws: `ToolFailure` if the file is missing or has no FLV signature.
    public init(path: String) throws {
        guard let data = FileManager.default.contents(atPath: path) else { throw ToolFailure("no file at \(path)") }
        var buffer = ByteBuffer(bytes: data)
        guard buffer.readSlice(length: 3) == ByteBuffer(string: "FLV"), buffer.readSlice(length: 10) != nil else {
            throw ToolFailure("\(path) is not an FLV file")
        }
        tags = []
        while let tag = FLVFile.readTag(&buffer) { tags.append(tag) }
    }

    private static func readTag(_ buffer: inout ByteBuffer) -> Tag? {
        guard let head = buffer.readMultipleIntegers(as: (UInt32, UInt32).self), buffer.readSlice(length: 3) != nil,
            let body = buffer.readSlice(length: Int(head.0 & 0xFF_FFFF)), buffer.readSlice(length: 4) != nil
        else { return nil }
        // Three bytes of time, then the most significant byte.
        let timestamp = head.1 >> 8 | (head.1 & 0xFF) << 24
        return Tag(type: UInt8(head.0 >> 24 & 0x1F), timestamp: Int64(timestamp), body: body)
    }

    /// Returns this file followed by the other in time, without the other's script data.
    public func followed(by other: FLVFile) -> FLVFile {
        // One frame at 30 fps between the last packet of this file and the first of the other.
        let start = (tags.map(\.timestamp).max() ?? 0) + 33
        var joined = self
        for var tag in other.tags where tag.type != 18 {
            tag.timestamp += start
            joined.tags.append(tag)
        }
        return joined
    }

    /// Writes the tags to a file.
    public func write(to path: String) throws {
        var buffer = ByteBuffer(string: "FLV")
        buffer.writeBytes([1, 5, 0, 0, 0, 9, 0, 0, 0, 0])
        for tag in tags {
            buffer.writeInteger(UInt32(tag.type) << 24 | UInt32(tag.body.readableBytes))
            let timestamp = UInt32(truncatingIfNeeded: tag.timestamp)
            buffer.writeInteger(timestamp << 8 | timestamp >> 24)
            buffer.writeRepeatingByte(0, count: 3)
            buffer.writeImmutableBuffer(tag.body)
            buffer.writeInteger(UInt32(tag.body.readableBytes + 11))
        }
        try Data(buffer.readableBytesView).write(to: URL(fileURLWithPath: path))
    }

    /// The H.264 and AAC packets and the metadata, as in a feed.
    public var packets: [MediaPacket] {
        tags.compactMap { tag in
            let head = tag.body.getMultipleIntegers(at: tag.body.readerIndex, as: (UInt8, UInt8).self)
            guard let (codec, type) = head else { return nil }
            return switch (tag.type, codec & 0x0F, codec >> 4, type) {
            case (9, 7, _, 0): packet(.videoConfiguration(.h264), tag, headerLength: 5)
            case (9, 7, let frame, 1):
                packet(.video(.h264, isKey: frame == 1, isDisposable: frame == 3), tag, headerLength: 5)
            case (9, 7, _, 2): packet(.videoEnd, tag, headerLength: 5)
            case (8, _, 10, 0): packet(.audioConfiguration(.aac), tag, headerLength: 2)
            case (8, _, 10, _): packet(.audio(.aac), tag, headerLength: 2)
            case (18, _, _, _): packet(.metadata, tag, headerLength: 0)
            default: nil
            }
        }
    }

    private func packet(_ content: MediaPacket.Content, _ tag: Tag, headerLength: Int) -> MediaPacket {
        var composition: Int32 = 0
        if case .video = content, let word: UInt32 = tag.body.getInteger(at: tag.body.readerIndex + 1) {
            // Sign-extends the low 24 bits.
            composition = Int32(bitPattern: word << 8) >> 8
        }
        return MediaPacket(
            content: content,
            timestamp: tag.timestamp,
            compositionOffset: composition,
            body: tag.body,
            headerLength: headerLength
        )
    }
}
