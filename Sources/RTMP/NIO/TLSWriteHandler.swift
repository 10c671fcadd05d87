public import NIOCore

/// Joins the writes between two flushes into few large ones, ahead of a TLS handler.
///
/// A TLS handler makes at least one record (RFC 8446 section 5.1) of each write, with an encryption, a header and a tag
/// of its own. A response is a small header and one or more buffers, and over HTTP/2 each frame has a header too.
/// Joined, most responses are one record.
///
/// Writes are copied until they fill a record; what would fill a record by itself is passed on as it is. A single write
/// between two flushes is never copied.
///
/// Used on the channel's event loop, directly before the TLS handler.
public final class TLSWriteHandler: ChannelOutboundHandler {
    /// Plaintext.
    public typealias OutboundIn = ByteBuffer
    /// Plaintext for the TLS handler.
    public typealias OutboundOut = ByteBuffer

    /// The maximum number of bytes of a record.
    static let recordSize = 1 << 14

    /// The bytes that no record contains yet, at most `recordSize`; nil if there are none.
    private var pending: ByteBuffer?
    /// Whether `pending` is a copy with room for a record, rather than the buffer of its only write.
    private var isCopy = false
    /// The promises of the writes that end in `pending`, in order.
    private var promises: [EventLoopPromise<Void>] = []

    /// Creates a handler for one connection.
    public init() {}

    /// Joins a write with the previous ones.
    public func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        var bytes = unwrapOutboundIn(data)
        if pending != nil {
            append(&bytes, context: context)
            guard bytes.readableBytes > 0 else {
                if let promise { promises.append(promise) }
                if let pending, pending.readableBytes >= Self.recordSize { forward(context: context) }
                return
            }
            // The rest belongs to the next record.
            forward(context: context)
        }
        guard bytes.readableBytes < Self.recordSize else {
            context.write(wrapOutboundOut(bytes), promise: promise)
            return
        }
        pending = bytes
        isCopy = false
        if let promise { promises.append(promise) }
    }

    /// Moves bytes to the end of `pending`, as many as the record has room for.
    private func append(_ bytes: inout ByteBuffer, context: ChannelHandlerContext) {
        guard var record = pending else { return }
        // Otherwise writing to it would copy it.
        pending = nil
        if !isCopy {
            var copy = context.channel.allocator.buffer(capacity: Self.recordSize)
            copy.writeImmutableBuffer(record)
            record = copy
            isCopy = true
        }
        let room = Self.recordSize - record.readableBytes
        if var part = bytes.readSlice(length: min(room, bytes.readableBytes)) { record.writeBuffer(&part) }
        pending = record
    }

    /// Passes the pending bytes on.
    private func forward(context: ChannelHandlerContext) {
        guard let record = pending else { return }
        pending = nil
        let promises = promises
        self.promises = []
        if promises.count > 1 {
            let rest = promises.dropFirst()
            promises[0].futureResult.whenComplete { result in
                for promise in rest { promise.completeWith(result) }
            }
        }
        context.write(wrapOutboundOut(record), promise: promises.first)
    }

    /// Passes the pending bytes on, and flushes.
    public func flush(context: ChannelHandlerContext) {
        forward(context: context)
        context.flush()
    }

    /// Passes the pending bytes on, and closes: the TLS handler decides what becomes of them.
    public func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        if mode != .input { forward(context: context) }
        context.close(mode: mode, promise: promise)
    }

    /// Fails the pending writes.
    public func handlerRemoved(context: ChannelHandlerContext) {
        pending = nil
        let promises = promises
        self.promises = []
        for promise in promises { promise.fail(ChannelError.ioOnClosedChannel) }
    }
}
