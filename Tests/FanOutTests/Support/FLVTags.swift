import NIOCore

/// The tags in FLV bytes, read apart from the code that wrote them.
struct FLVTag: Equatable, CustomStringConvertible {
    var type: UInt8
    var timestamp: Int64
    var body: [UInt8]

    var isKeyPicture: Bool { type == 9 && body.starts(with: [0x17, 1]) }
    var isPicture: Bool { type == 9 && body.count > 1 && body[1] == 1 }
    var isSound: Bool { type == 8 && body.count > 1 && body[1] == 1 }

    /// Kind and time: `m0`, `V0` and `A0` for headers, `K40` for a key picture, `p80`, `s80`.
    var description: String {
        let kind =
            type == 18 ? "m" : isKeyPicture ? "K" : isPicture ? "p" : isSound ? "s" : type == 9 ? "V" : "A"
        return "\(kind)\(timestamp)"
    }

    /// All tags in `bytes`, which may begin with the file header.
    ///
    /// Nil when they do not end with a whole tag, or a tag says something else of its length behind it than before.
    static func read(_ bytes: ByteBuffer) -> [FLVTag]? {
        var bytes = bytes
        if bytes.getString(at: bytes.readerIndex, length: 3) == "FLV" { bytes.moveReaderIndex(forwardBy: 13) }
        var tags: [FLVTag] = []
        while bytes.readableBytes > 0 {
            guard let head = bytes.readBytes(length: 11) else { return nil }
            let length = Int(head[1]) << 16 | Int(head[2]) << 8 | Int(head[3])
            let time = Int64(head[4]) << 16 | Int64(head[5]) << 8 | Int64(head[6]) | Int64(head[7]) << 24
            guard let body = bytes.readBytes(length: length), let size = bytes.readInteger(as: UInt32.self),
                Int(size) == length + 11
            else { return nil }
            tags.append(FLVTag(type: head[0], timestamp: time, body: body))
        }
        return tags
    }
}
