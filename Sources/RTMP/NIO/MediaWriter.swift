public import NIOCore

/// Writes media to one peer: straight to its socket while the socket keeps up, else through its channel.
///
/// A crowd costs one small write per viewer and tick, and a channel's queue, promises and flush cost about as much as
/// the system call itself. So while nothing waits in the channel, the bytes are sent without it. What the socket does
/// not take goes into the channel's queue, and so does everything behind it until the queue is empty again: the order
/// of the bytes, the high water mark and the handling of errors stay the channel's.
///
/// Everything here happens on the channel's event loop. Whoever makes a writer ends it when its channel becomes
/// inactive: the number of a closed socket soon belongs to another connection. An event loop that closes a socket
/// tells so before it does anything else.
public final class MediaWriter {
    /// The socket, when nothing in the pipeline changes the bytes on their way to it.
    private var socket: CInt?
    /// Writes that have not left the channel's queue.
    private var queued = 0
    private var context: ChannelHandlerContext?
    private let channel: any Channel
    private var isGathering = false
    /// Who is told when `straightSocket` changes to nil; whoever sets it takes it back, or `end` does.
    public var watcher: (any MediaWriterWatching)?

    /// - Parameters:
    ///   - context: Where the channel's part of the writes begins.
    ///   - isPlain: Whether no handler between `context` and the socket changes what is written, as TLS does.
    public init(_ context: ChannelHandlerContext, isPlain: Bool) {
        self.context = context
        channel = context.channel
        #if canImport(Glibc)
        guard isPlain else { return }
        // A channel without a socket, as tests have them, is written to through its pipeline.
        socket = try? context.pipeline.syncOperations.withUnsafeTransportIfAvailable(of: CInt.self) { $0 }
        #endif
    }

    /// Where bytes may be sent without the writer; nil while something waits in the channel, or when all must pass it.
    public var straightSocket: CInt? { queued == 0 ? socket : nil }

    /// Bytes that wait in the channel; what the system has taken is not among them.
    public var waitingBytes: Int {
        guard queued > 0 else { return 0 }
        // Channels that cannot tell are those of tests.
        return (try? channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
    }

    /// Sends what is the same for many; never waits.
    public func send(_ bytes: ByteBuffer) {
        let sent = sendStraight(bytes)
        guard sent < bytes.readableBytes, let context else { return }
        context.writeAndFlush(NIOAny(bytes.dropFirst(sent)), promise: nextInQueue())
    }

    /// Sends several buffers with as few calls to the system as it takes; never waits.
    public func send(contentsOf buffers: [ByteBuffer]) {
        var sent = straightSocket.map { max(SocketRow.send(buffers[...], on: $0), 0) } ?? 0
        var rest = buffers[...]
        while let first = rest.first, first.readableBytes <= sent {
            sent -= first.readableBytes
            rest.removeFirst()
        }
        guard let context, let last = rest.popLast() else { return }
        for buffer in rest {
            context.write(NIOAny(buffer.dropFirst(sent)), promise: nil)
            sent = 0
        }
        context.writeAndFlush(NIOAny(last.dropFirst(sent)), promise: nextInQueue())
    }

    /// For a write that somebody else gives to the channel: no media overtakes it.
    public func nextInQueue() -> EventLoopPromise<Void> {
        let promise = channel.eventLoop.makePromise(of: Void.self)
        queued += 1
        watcher?.straightSocketChanged()
        promise.futureResult.assumeIsolated().whenComplete { outcome in
            self.queued -= 1
            // A channel whose sending half was closed fails every write and stays open: nothing will ever leave it.
            if case .failure = outcome { self.context?.close(promise: nil) }
        }
        return promise
    }

    /// Lets the system hold a small write back until the one before it was acknowledged, or lets it not (RFC 896).
    ///
    /// Fit for a viewer who is fed pictures in ticks, each more than a segment (sound alone, of some hundred bytes a
    /// tick, would wait for a delayed acknowledgement every time): one who acknowledges within a tick gets everything at once as before; to
    /// one who does not, the end of a batch goes out with the next one, or as soon as the acknowledgement is there.
    /// That saves a packet, and the work of sending it, for each of them. Harmful wherever a peer waits for an answer
    /// before it says more: never gather before media flows.
    public func gather(_ isGathering: Bool) {
        guard isGathering != self.isGathering else { return }
        self.isGathering = isGathering
        // Sockets that refuse work as before.
        try? channel.syncOptions?.setOption(.tcpOption(.tcp_nodelay), value: isGathering ? 0 : 1)
    }

    /// Nothing is written from now on.
    public func end() {
        context = nil
        socket = nil
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
