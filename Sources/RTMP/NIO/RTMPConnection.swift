public import NIOCore
import Synchronization

/// A handle on one peer of the server.
///
/// Everything but `close` is called on `eventLoop`.
public final class RTMPConnection: Sendable {
    /// Where everything about this peer happens.
    public let eventLoop: any EventLoop
    /// The peer's address without its port.
    public let remoteAddress: String?
    let channel: any Channel
    private let handler: NIOLoopBound<RTMPServerHandler>
    private let writer: NIOLoopBound<MediaWriter>
    private let held = Mutex<[String: any Sendable]>([:])

    init(channel: any Channel, handler: RTMPServerHandler, writer: MediaWriter, remoteAddress: String?) {
        eventLoop = channel.eventLoop
        self.channel = channel
        self.remoteAddress = remoteAddress
        self.handler = NIOLoopBound(handler, eventLoop: channel.eventLoop)
        self.writer = NIOLoopBound(writer, eventLoop: channel.eventLoop)
    }

    /// Takes media that is already in chunks (see `ViewerChunks`).
    public var media: MediaWriter { writer.value }

    /// Tells the peer why it is over, waits until that is sent, and closes.
    ///
    /// The receiver's `ended` is called with `reason`, not before this call returns.
    public func end(_ status: RTMPStatus, reason: RTMPEndReason) {
        handler.value.end(status, reason: reason)
    }

    /// Closes at once; from any thread.
    public func close() {
        channel.close(promise: nil)
    }

    /// Holds a value as long as there is a connection, in place of the one of that name before; from any thread.
    public func hold(_ value: any Sendable, as name: String) {
        // The one before is let go outside of the lock.
        _ = held.withLock { $0.updateValue(value, forKey: name) }
    }

    /// The server goes down: asks the peer to come again if it can, tells it that this stream is over, and closes.
    func shutDown() {
        handler.value.shutDown()
    }
}
