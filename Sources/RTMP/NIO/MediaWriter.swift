public import NIOCore

/// Writes media to one peer: straight to its socket while the socket keeps up, else through its channel.
///
/// A crowd costs one small write per viewer and tick, and a channel's queue, promises and flush cost about as much as
/// the system call itself. So while nothing waits in the channel, the bytes are sent without it. What the socket does
/// not take goes into the channel's queue, and everything behind it waits here until that has left: a channel never
/// gives back what its queue has grown to, and a crowd on a line that is too narrow makes every queue grow. The order
/// of the bytes is that of the writes, whichever way they go.
///
/// Everything here happens on the channel's event loop. Whoever makes a writer ends it when its channel becomes
/// inactive: the number of a closed socket soon belongs to another connection. An event loop that closes a socket
/// tells so before it does anything else.
public final class MediaWriter {
    /// Bytes waiting to be sent to a peer from which on it takes nothing, unless told otherwise.
    public static let highWaterMark = 1 << 20
    /// Buffers that the channel is given at a time, so that its queue stays as long as it is made.
    private static let mostInChannel = 8
    /// The bytes from which on fewer than these are enough.
    private static let enoughInChannel = 64 << 10

    /// The socket, when nothing in the pipeline changes the bytes on their way to it.
    private var socket: CInt?
    /// Writes that have not left the channel's queue.
    private var queued = 0
    /// What waits behind these.
    private var backlog: [ByteBuffer] = []
    private var backlogBytes = 0
    private var context: ChannelHandlerContext?
    private let channel: any Channel
    private let highWaterMark: Int
    private var isGathering = false
    /// Whether less waits than the high water mark; once more did, whether less than a quarter of it does.
    private var isWritable = true
    /// Who is told when `straightSocket` changes to nil, and when the peer takes nothing or something again; whoever sets
    /// it takes it back, or `end` does.
    public var watcher: (any MediaWriterWatching)? {
        didSet {
            if !isWritable { watcher?.writabilityChanged(to: false) }
        }
    }

    /// - Parameters:
    ///   - context: Where the channel's part of the writes begins.
    ///   - isPlain: Whether no handler between `context` and the socket changes what is written, as TLS does.
    ///   - highWaterMark: Bytes waiting to be sent from which on the peer takes nothing, as the watcher is told.
    public init(_ context: ChannelHandlerContext, isPlain: Bool, highWaterMark: Int = MediaWriter.highWaterMark) {
        self.context = context
        self.highWaterMark = highWaterMark
        channel = context.channel
        #if canImport(Glibc)
        guard isPlain else { return }
        // A channel without a socket, as tests have them, is written to through its pipeline.
        socket = try? context.pipeline.syncOperations.withUnsafeTransportIfAvailable(of: CInt.self) { $0 }
        #endif
    }

    /// Where bytes may be sent without the writer; nil while something waits, or when all must pass the channel.
    public var straightSocket: CInt? { queued == 0 ? socket : nil }

    /// Bytes that wait to be sent; what the system has taken is not among them.
    public var waitingBytes: Int {
        guard queued > 0 else { return 0 }
        // Channels that cannot tell are those of tests.
        return backlogBytes + ((try? channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0)
    }

    /// Sends what is the same for many; never waits.
    public func send(_ bytes: ByteBuffer) {
        let sent = sendStraight(bytes)
        guard sent < bytes.readableBytes else { return }
        wait(bytes.dropFirst(sent))
        advance()
    }

    /// Sends several buffers with as few calls to the system as it takes; never waits.
    public func send(contentsOf buffers: [ByteBuffer]) {
        var sent = straightSocket.map { max(SocketRow.send(buffers[...], on: $0), 0) } ?? 0
        for buffer in buffers {
            let part = min(sent, buffer.readableBytes)
            sent -= part
            if part < buffer.readableBytes { wait(buffer.dropFirst(part)) }
        }
        advance()
    }

    /// For a write that somebody else gives to the channel at once: it goes behind all that waits here, and no media
    /// overtakes it.
    public func nextInQueue() -> EventLoopPromise<Void> {
        if !backlog.isEmpty { pass(backlog.count) }
        return promise()
    }

    private func promise() -> EventLoopPromise<Void> {
        let promise = channel.eventLoop.makePromise(of: Void.self)
        queued += 1
        watcher?.straightSocketChanged()
        promise.futureResult.assumeIsolated().whenComplete { outcome in
            self.queued -= 1
            if case .failure = outcome {
                // A channel whose sending half was closed fails every write and stays open: nothing will ever leave it.
                self.context?.close(promise: nil)
            } else {
                self.advance()
            }
        }
        return promise
    }

    // MARK: What waits

    private func wait(_ bytes: ByteBuffer) {
        guard context != nil else { return }
        backlog.append(bytes)
        backlogBytes += bytes.readableBytes
    }

    /// Gives the channel its next part, if the last one has left.
    private func advance() {
        if queued == 0, !backlog.isEmpty {
            var bytes = 0
            let end = backlog.prefix(Self.mostInChannel).firstIndex { buffer in
                bytes += buffer.readableBytes
                return bytes >= Self.enoughInChannel
            }
            pass(end.map { $0 + 1 } ?? min(backlog.count, Self.mostInChannel))
        }
        lookAtWritability()
    }

    /// Gives the first buffers that wait to the channel.
    private func pass(_ count: Int) {
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

    private func lookAtWritability() {
        let isBelow = waitingBytes <= (isWritable ? highWaterMark : highWaterMark / 4)
        guard isBelow != isWritable else { return }
        isWritable = isBelow
        watcher?.writabilityChanged(to: isBelow)
    }

    // MARK: The socket

    /// Lets the system hold a small write back until the one before it was acknowledged, or lets it not (RFC 896).
    ///
    /// Fit for a viewer who is fed pictures in ticks, each more than a segment (sound alone, of some hundred bytes a
    /// tick, would wait for a delayed acknowledgement every time): one who acknowledges within a tick gets everything at
    /// once as before; to one who does not, the end of a batch goes out with the next one, or as soon as the
    /// acknowledgement is there. That saves a packet, and the work of sending it, for each of them. Harmful wherever a
    /// peer waits for an answer before it says more: never gather before media flows.
    public func gather(_ isGathering: Bool) {
        guard isGathering != self.isGathering else { return }
        self.isGathering = isGathering
        // Sockets that refuse work as before.
        try? channel.syncOptions?.setOption(.tcpOption(.tcp_nodelay), value: isGathering ? 0 : 1)
    }

    /// Nothing is written from now on, but for what the channel was given.
    public func end() {
        context = nil
        socket = nil
        backlog = []
        backlogBytes = 0
        watcher?.straightSocketChanged()
        watcher = nil
    }

    /// - Returns: How many bytes the socket took, 0 when the channel has to be asked.
    private func sendStraight(_ bytes: ByteBuffer) -> Int {
        guard let socket = straightSocket else { return 0 }
        // Whatever is wrong, the channel will meet it again and knows what to do.
        return max(bytes.withUnsafeReadableBytes { SocketRow.send($0, on: socket) }, 0)
    }
}

extension ByteBuffer {
    fileprivate func dropFirst(_ count: Int) -> ByteBuffer {
        var rest = self
        rest.moveReaderIndex(forwardBy: count)
        return rest
    }
}
