public import NIOCore

/// Writes media to one peer: directly to the socket while it accepts all data, otherwise through the channel.
///
/// While the channel has no pending writes, bytes are sent through its `DirectSocket`. Bytes that the socket does not
/// accept go to the channel's queue, and later ones wait in the backlog until that has drained, because a
/// channel never shrinks its queue. The order of the bytes is always the order of the writes.
///
/// Used on the channel's event loop only. The owner calls `end` when the channel becomes inactive, because the
/// descriptor of a closed socket may be reused by another connection.
public final class MediaWriter {
    /// The default number of pending bytes above which a peer counts as not writable.
    public static let highWaterMark = 1 << 20
    /// The number of buffers passed to the channel at a time, which keeps its queue at its initial capacity.
    private static let maximumChannelBuffers = 8
    /// The number of bytes at which fewer buffers are passed.
    private static let sufficientChannelBytes = 64 << 10

    /// The socket; nil if a handler in the pipeline transforms the bytes, or if direct writes are disabled.
    private var socket: DirectSocket?
    /// The number of writes still in the channel's queue.
    private var queued = 0
    /// The buffers that wait for the channel's queue to drain.
    private var backlog: [ByteBuffer] = []
    private var backlogBytes = 0
    private var context: ChannelHandlerContext?
    private let channel: any Channel
    /// Whether the channel has the options of a socket; a stream of HTTP/2 traps on them.
    private let hasSocketOptions: Bool
    private let highWaterMark: Int
    private var isNagleEnabled = false
    /// Whether the pending bytes are below the high water mark; after exceeding it, whether they are below a quarter of
    /// it.
    private var isWritable = true
    /// Receives changes of `directSocket` and of writability; `end` clears it.
    public var observer: (any MediaWriterObserver)? {
        didSet {
            if !isWritable { observer?.writabilityChanged(to: false) }
        }
    }

    /// - Parameters:
    ///   - context: The context from which the channel writes.
    ///   - isPlain: Whether no handler between `context` and the socket transforms the bytes, as TLS does.
    ///   - hasSocketOptions: Whether the channel is that of a socket, rather than a stream of HTTP/2.
    ///   - highWaterMark: The number of pending bytes above which the observer is notified.
    public init(
        _ context: ChannelHandlerContext,
        isPlain: Bool,
        hasSocketOptions: Bool = true,
        highWaterMark: Int = MediaWriter.highWaterMark
    ) {
        self.context = context
        self.hasSocketOptions = hasSocketOptions
        self.highWaterMark = highWaterMark
        channel = context.channel
        socket = isPlain ? DirectSocket(of: context.channel) : nil
    }

    /// The socket for direct writes; nil while writes are pending or if all bytes must pass through the channel.
    public var directSocket: DirectSocket? { queued == 0 ? socket : nil }

    /// Disables direct writes, so that all bytes pass through the channel.
    public func disableDirectWrites() {
        socket = nil
        observer?.directSocketChanged()
    }

    /// The number of bytes waiting to be sent, excluding those in the kernel.
    public var pendingBytes: Int {
        guard queued > 0 else { return 0 }
        // A stream does not tell what it holds: the buffers of one turn, which are few.
        guard hasSocketOptions else { return backlogBytes }
        // Only test channels lack this option.
        return backlogBytes + ((try? channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0)
    }

    /// Sends a buffer; never blocks.
    public func send(_ bytes: ByteBuffer) {
        channel.eventLoop.assertInEventLoop()
        // On an error the channel encounters the same one on its next write and handles it.
        let sent = directSocket?.send(bytes) ?? 0
        guard sent < bytes.readableBytes else { return }
        enqueue(bytes.dropFirst(sent))
        advance()
    }

    /// Sends several buffers with as few system calls as possible; never blocks.
    public func send(contentsOf buffers: [ByteBuffer]) {
        channel.eventLoop.assertInEventLoop()
        var sent = directSocket?.send(contentsOf: buffers) ?? 0
        for buffer in buffers {
            let part = min(sent, buffer.readableBytes)
            sent -= part
            if part < buffer.readableBytes { enqueue(buffer.dropFirst(part)) }
        }
        advance()
    }

    /// Flushes the backlog to the channel and returns a promise for a write that the caller issues directly afterwards,
    /// so that the order is kept.
    public func makeQueuedWritePromise() -> EventLoopPromise<Void> {
        channel.eventLoop.assertInEventLoop()
        if !backlog.isEmpty { forward(backlog.count) }
        return promise()
    }

    private func promise() -> EventLoopPromise<Void> {
        let promise = channel.eventLoop.makePromise(of: Void.self)
        queued += 1
        observer?.directSocketChanged()
        promise.futureResult.assumeIsolated().whenComplete { outcome in
            self.queued -= 1
            if case .failure = outcome {
                // A channel whose output was closed fails every write but stays open, so nothing would ever drain.
                self.context?.close(promise: nil)
            } else {
                self.advance()
            }
        }
        return promise
    }

    // MARK: Backlog

    private func enqueue(_ bytes: ByteBuffer) {
        guard context != nil else { return }
        backlog.append(bytes)
        backlogBytes += bytes.readableBytes
    }

    /// Passes the next part of the backlog to the channel if its queue is empty.
    private func advance() {
        if queued == 0, !backlog.isEmpty {
            var bytes = 0
            let end = backlog.prefix(Self.maximumChannelBuffers).firstIndex { buffer in
                bytes += buffer.readableBytes
                return bytes >= Self.sufficientChannelBytes
            }
            forward(end.map { $0 + 1 } ?? min(backlog.count, Self.maximumChannelBuffers))
        }
        updateWritability()
    }

    /// Writes the first buffers of the backlog to the channel.
    private func forward(_ count: Int) {
        guard let context else { return }
        let last = backlog[count - 1]
        for buffer in backlog.prefix(count) { backlogBytes -= buffer.readableBytes }
        for buffer in backlog.prefix(count - 1) { context.write(NIOAny(buffer), promise: nil) }
        if count == backlog.count {
            backlog = []
        } else {
            backlog.removeFirst(count)
        }
        context.writeAndFlush(NIOAny(last), promise: promise())
    }

    private func updateWritability() {
        let isBelow = pendingBytes <= (isWritable ? highWaterMark : highWaterMark / 4)
        guard isBelow != isWritable else { return }
        isWritable = isBelow
        observer?.writabilityChanged(to: isBelow)
    }

    // MARK: Socket

    /// Enables or disables Nagle's algorithm (RFC 896), which delays a small write until the previous one is
    /// acknowledged.
    ///
    /// Suitable for viewers that receive video in ticks of more than one segment each: a peer that acknowledges within
    /// a tick sees no delay, and for others the last small segment is merged with the next tick, which saves packets.
    /// Unsuitable for audio-only streams, whose small writes would wait for delayed acknowledgements, and before media
    /// flows, while the peer waits for responses.
    public func setNagleEnabled(_ isNagleEnabled: Bool) {
        channel.eventLoop.assertInEventLoop()
        guard hasSocketOptions, isNagleEnabled != self.isNagleEnabled else { return }
        self.isNagleEnabled = isNagleEnabled
        // Sockets that reject the option work as before.
        try? channel.syncOptions?.setOption(.tcpOption(.tcp_nodelay), value: isNagleEnabled ? 0 : 1)
    }

    /// Stops writing; writes already passed to the channel are still sent.
    public func end() {
        channel.eventLoop.assertInEventLoop()
        context = nil
        socket = nil
        backlog = []
        backlogBytes = 0
        observer?.directSocketChanged()
        observer = nil
    }
}

extension ByteBuffer {
    fileprivate func dropFirst(_ count: Int) -> ByteBuffer {
        var rest = self
        rest.moveReaderIndex(forwardBy: count)
        return rest
    }
}

/// Observes a `MediaWriter` whose socket is also written to directly.
///
/// All methods are called on the writer's event loop.
public protocol MediaWriterObserver: AnyObject {
    /// `directSocket` changed; direct writes to the previous socket must stop.
    func directSocketChanged()
    /// The pending bytes exceeded the high water mark, or fell below a quarter of it.
    func writabilityChanged(to isWritable: Bool)
}
