import NIOCore
import RTMP
import Stage

@testable import FanOut

/// A viewer's connection that records what is written.
final class RecordingViewerOutput: ViewerOutput, ViewerWriter {
    private(set) var buffers: [ByteBuffer] = []
    private(set) var flushes = 0
    private(set) var ends: [AudienceEvent.CloseReason] = []
    /// The number of buffers written before gathering began; nil while it is off.
    private(set) var buffersBeforeGathering: Int?
    var isNagleEnabled: Bool { buffersBeforeGathering != nil }
    /// The socket for direct writes, offered unless they are disabled.
    var socket: DirectSocket?
    private(set) var areDirectWritesDisabled = false
    var directSocket: DirectSocket? { areDirectWritesDisabled ? nil : socket }
    var observer: (any MediaWriterObserver)?
    /// The queued bytes of a blocked player; nil while the player is not blocked.
    private(set) var held: Int?
    /// Called during each flush, as a failing socket would.
    var onFlush: (() -> Void)?

    func disableDirectWrites() { areDirectWritesDisabled = true }

    func send(_ bytes: ByteBuffer) { send(contentsOf: [bytes]) }

    func send(contentsOf buffers: [ByteBuffer]) {
        self.buffers += buffers
        flushes += 1
        if held != nil { held? += buffers.reduce(0) { $0 + $1.readableBytes } }
        onFlush?()
    }

    var pendingBytes: Int { held ?? 0 }

    /// Blocks the player.
    func block() { held = 0 }

    /// Lets the player read some of the queued bytes.
    func release(_ bytes: Int) { held = held.map { max($0 - bytes, 0) } }

    /// Lets the player read everything, and unblocks it.
    func release() { held = nil }

    func setNagleEnabled(_ isNagleEnabled: Bool) { buffersBeforeGathering = isNagleEnabled ? buffers.count : nil }

    func end(_ reason: AudienceEvent.CloseReason) { ends.append(reason) }

    /// Everything written, as FLV tags.
    var tags: [FLVTag] {
        var all = ByteBuffer()
        for buffer in buffers { all.writeImmutableBuffer(buffer) }
        return FLVTag.read(all) ?? []
    }

    var text: String { tags.map(\.description).joined(separator: " ") }
}

/// An FLV tag, parsed independently of the code that writes them.
struct FLVTag: Equatable, CustomStringConvertible {
    var type: UInt8
    var timestamp: Int64
    var body: [UInt8]

    var isKeyframe: Bool { type == 9 && body.starts(with: [0x17, 1]) }
    var isFrame: Bool { type == 9 && body.count > 1 && body[1] == 1 }
    var isAudio: Bool { type == 8 && body.count > 1 && body[1] == 1 }

    /// Kind and time: `m0`, `V0` and `A0` for headers, `K40` for a keyframe, `p80`, `s80` for other frames and audio.
    var description: String {
        let kind =
            type == 18 ? "m" : isKeyframe ? "K" : isFrame ? "p" : isAudio ? "s" : type == 9 ? "V" : "A"
        return "\(kind)\(timestamp)"
    }

    /// Parses the tags in `bytes`, which may start with the file header.
    ///
    /// Returns nil if the last tag is incomplete, or a tag's trailing size differs from its length.
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
