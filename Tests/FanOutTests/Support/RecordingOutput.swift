@testable import FanOut
import NIOCore
import Stage

/// A viewer's connection that keeps what it is given.
final class RecordingOutput: ViewerOutput {
    private(set) var buffers: [ByteBuffer] = []
    private(set) var flushes = 0
    private(set) var ends: [AudienceEvent.CloseReason] = []
    /// Called in the middle of each flush, as a socket that fails does.
    var onFlush: (() -> Void)?

    func write(_ bytes: ByteBuffer) { buffers.append(bytes) }

    func flush() {
        flushes += 1
        onFlush?()
    }

    func end(_ reason: AudienceEvent.CloseReason) { ends.append(reason) }

    /// All that was written, as FLV tags.
    var tags: [FLVTag] {
        var all = ByteBuffer()
        for buffer in buffers { all.writeImmutableBuffer(buffer) }
        return FLVTag.read(all) ?? []
    }

    var text: String { tags.map(\.description).joined(separator: " ") }
}
