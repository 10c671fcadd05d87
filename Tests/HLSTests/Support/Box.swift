import NIOCore

/// One ISO base media box.
struct Box {
    struct Damage: Error { let reason: String }

    let type: String
    let content: ByteBuffer

    /// The boxes that fill `buffer`; anything that is not filled exactly is damage.
    static func all(in buffer: ByteBuffer) throws -> [Box] {
        var input = buffer
        var boxes: [Box] = []
        while input.readableBytes > 0 {
            guard let size: UInt32 = input.readInteger(), size >= 8, let type = input.readString(length: 4),
                let content = input.readSlice(length: Int(size) - 8)
            else { throw Damage(reason: "a box does not end where its parent does") }
            boxes.append(Box(type: type, content: content))
        }
        return boxes
    }

    /// The box at a path of types below `buffer`, with `header` bytes between a box and its children skipped.
    static func find(_ path: [(type: String, header: Int)], in buffer: ByteBuffer) throws -> ByteBuffer {
        var content = buffer
        for step in path {
            guard let box = try all(in: content).first(where: { $0.type == step.type }) else {
                throw Damage(reason: "no \(step.type)")
            }
            content = box.content
            content.moveReaderIndex(forwardBy: step.header)
        }
        return content
    }
}
