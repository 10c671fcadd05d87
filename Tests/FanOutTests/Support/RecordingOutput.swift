@testable import FanOut
import NIOCore
import RTMP
import Stage

/// A viewer's connection that keeps what it is given.
final class RecordingOutput: ViewerOutput, ViewerWriter {
    private(set) var buffers: [ByteBuffer] = []
    private(set) var flushes = 0
    private(set) var ends: [AudienceEvent.CloseReason] = []
    /// What it had been given when small writes were first gathered; nil while they are not.
    private(set) var buffersBeforeGathering: Int?
    var isGathering: Bool { buffersBeforeGathering != nil }
    /// Where it lets itself be passed by.
    var straightSocket: CInt?
    var watcher: (any MediaWriterWatching)?
    /// What it holds back because its player takes nothing; nil while the player takes everything at once.
    private(set) var held: Int?
    /// Called in the middle of each flush, as a socket that fails does.
    var onFlush: (() -> Void)?

    func send(_ bytes: ByteBuffer) { send(contentsOf: [bytes]) }

    func send(contentsOf buffers: [ByteBuffer]) {
        self.buffers += buffers
        flushes += 1
        if held != nil { held? += buffers.reduce(0) { $0 + $1.readableBytes } }
        onFlush?()
    }

    var waitingBytes: Int { held ?? 0 }

    /// The player takes nothing from now on.
    func hold() { held = 0 }

    /// The player takes some of what was held back.
    func take(_ bytes: Int) { held = held.map { max($0 - bytes, 0) } }

    /// The player takes all of it, and everything at once from now on.
    func release() { held = nil }

    func gather(_ isGathering: Bool) { buffersBeforeGathering = isGathering ? buffers.count : nil }

    func end(_ reason: AudienceEvent.CloseReason) { ends.append(reason) }

    /// All that was written, as FLV tags.
    var tags: [FLVTag] {
        var all = ByteBuffer()
        for buffer in buffers { all.writeImmutableBuffer(buffer) }
        return FLVTag.read(all) ?? []
    }

    var text: String { tags.map(\.description).joined(separator: " ") }
}
