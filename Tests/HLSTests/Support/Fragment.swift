import NIOCore

/// A movie fragment parsed from its boxes, with all sizes checked.
struct Fragment {
    struct Damage: Error { let reason: String }

    struct Run {
        var baseTime: Int64
        var durations: [Int] = []
        var sizes: [Int] = []
        var flags: [UInt32] = []
        var compositionOffsets: [Int32] = []
        /// The offset of the run's media from the moof.
        var dataOffset = 0
        /// The bytes of each sample.
        var samples: [[UInt8]] = []
    }

    var number: UInt32 = 0
    var video: Run?
    var audio: Run?

    init(_ data: ByteBuffer) throws {
        let top = try Box.all(in: data)
        guard top.map(\.type) == ["moof", "mdat"] else { throw Damage(reason: "\(top.map(\.type))") }
        let children = try Box.all(in: top[0].content)
        guard children.first?.type == "mfhd", var header = children.first?.content else {
            throw Damage(reason: "mfhd")
        }
        _ = header.readInteger(as: UInt32.self)
        number = header.readInteger() ?? 0
        for traf in children.dropFirst() {
            let (track, run) = try Self.run(traf, of: data)
            if track == 1 { video = run } else { audio = run }
        }
        let media = (video?.sizes ?? []).reduce(0, +) + (audio?.sizes ?? []).reduce(0, +)
        guard media == top[1].content.readableBytes else { throw Damage(reason: "mdat has other bytes than samples") }
    }

    private static func run(_ traf: Box, of data: ByteBuffer) throws -> (UInt32, Run) {
        let boxes = try Box.all(in: traf.content)
        guard boxes.map(\.type) == ["tfhd", "tfdt", "trun"] else { throw Damage(reason: "\(boxes.map(\.type))") }
        var (tfhd, tfdt, trun) = (boxes[0].content, boxes[1].content, boxes[2].content)
        let headerFlags: UInt32 = tfhd.readInteger() ?? 0
        let track: UInt32 = tfhd.readInteger() ?? 0
        let defaultDuration = headerFlags & 8 != 0 ? Int(tfhd.readInteger(as: UInt32.self) ?? 0) : 0
        let defaultFlags: UInt32 = headerFlags & 0x20 != 0 ? tfhd.readInteger() ?? 0 : 0
        guard headerFlags & 0x02_0000 != 0, tfhd.readableBytes == 0 else { throw Damage(reason: "tfhd") }
        guard tfdt.readInteger(as: UInt32.self) == 0x0100_0000, let time: Int64 = tfdt.readInteger() else {
            throw Damage(reason: "tfdt")
        }
        let flags: UInt32 = trun.readInteger() ?? 0
        let count: UInt32 = trun.readInteger() ?? 0
        guard flags >> 24 == 1 else { throw Damage(reason: "trun version") }
        var run = Run(baseTime: time, dataOffset: Int(trun.readInteger(as: Int32.self) ?? 0))
        var position = data.readerIndex + run.dataOffset
        for _ in 0..<count {
            run.durations.append(flags & 0x100 != 0 ? Int(trun.readInteger(as: UInt32.self) ?? 0) : defaultDuration)
            let size = Int(trun.readInteger(as: UInt32.self) ?? 0)
            run.sizes.append(size)
            run.flags.append(flags & 0x400 != 0 ? trun.readInteger() ?? 0 : defaultFlags)
            run.compositionOffsets.append(flags & 0x800 != 0 ? trun.readInteger() ?? 0 : 0)
            guard let bytes = data.getBytes(at: position, length: size) else { throw Damage(reason: "data offset") }
            run.samples.append(bytes)
            position += size
        }
        guard trun.readableBytes == 0 else { throw Damage(reason: "trun") }
        return (track, run)
    }
}

/// A parsed ISO base media box.
struct Box {
    struct Damage: Error { let reason: String }

    let type: String
    let content: ByteBuffer

    /// Parses the boxes that fill `buffer` exactly.
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

    /// Returns the content of the box at a path of types, skipping `header` bytes of each box.
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
