public import NIOCore
import Synchronization

/// A handle on one peer of the server.
///
/// All members but `close` and `hold` are used on `eventLoop`.
public final class RTMPConnection: Sendable {
    /// The event loop of the connection.
    public let eventLoop: any EventLoop
    /// The peer's address without its port.
    public let remoteAddress: String?
    let channel: any Channel
    private let handler: NIOLoopBound<RTMPServerHandler>
    private let writer: NIOLoopBound<MediaWriter>
    private let retained = Mutex<[String: any Sendable]>([:])

    init(channel: any Channel, handler: RTMPServerHandler, writer: MediaWriter, remoteAddress: String?) {
        eventLoop = channel.eventLoop
        self.channel = channel
        self.remoteAddress = remoteAddress
        self.handler = NIOLoopBound(handler, eventLoop: channel.eventLoop)
        self.writer = NIOLoopBound(writer, eventLoop: channel.eventLoop)
    }

    /// Sends media that is already in chunks (see `ViewerChunks`).
    public var media: MediaWriter { writer.value }

    /// Sends the status, waits until it is written, and closes.
    ///
    /// The receiver's `ended` is called with `reason` after this call returns.
    public func end(_ status: RTMPStatus, reason: RTMPEndReason) {
        handler.value.end(status, reason: reason)
    }

    /// Closes immediately; thread-safe.
    public func close() {
        channel.close(promise: nil)
    }

    /// Retains a value under a name until the connection closes, replacing the previous one; thread-safe.
    public func hold(_ value: any Sendable, as name: String) {
        // The previous value is released outside of the lock.
        _ = retained.withLock { $0.updateValue(value, forKey: name) }
    }

    /// Shuts down: requests a reconnect if the peer supports it, ends the stream, and closes.
    func shutDown() {
        handler.value.shutDown()
    }
}
