import NIOCore

#if canImport(Glibc)
import Glibc
#endif

/// The socket of a channel, for writes that bypass the channel's pipeline.
///
/// What it does: each frame of a program is one small write to each of many viewers. For such a write the queue, the
/// promise and the flush of a channel cost about as much as the system call itself, so `MediaWriter` and
/// `DirectWriteBatch` call send(2) and sendmsg(2) on the channel's descriptor. All such calls are in this file.
///
/// Why it is safe beside NIO:
/// - All calls are on the channel's event loop, which alone reads, writes and closes the socket. Debug builds check it.
/// - `MediaWriter` offers the socket only while the channel has no pending writes, and writes the bytes that the socket
///   did not accept through the channel. So bytes leave in the order of the writes, and each exactly once.
/// - It is not used where a handler transforms the bytes, as TLS does.
/// - The owner of a `MediaWriter` ends it in `channelInactive`, in the loop's turn that closes the descriptor, so that
///   no write reaches a later connection with the same number.
/// - Calls never block and raise no signal. Errors are ignored: the channel meets them at its next read or write, and
///   closes.
///
/// Measured gain: of 2,000 viewers of 500 kb/s, one takes 0.06 ms of CPU time per second at a tick of 100 ms and 0.09 ms
/// at 66 ms; through the pipeline it takes 0.09 to 0.12 ms and 0.13 ms (nginx-rtmp in the same runs: 0.07 ms).
/// `deploy/bench fanout --direct-writes off` measures the same crowd through the pipeline. The setting
/// `fanout.direct_writes` does so in a gateway.
public struct DirectSocket: Sendable {
    let descriptor: CInt
    let eventLoop: any EventLoop

    /// Creates a socket from the descriptor of a channel.
    ///
    /// - Parameter eventLoop: The channel's event loop.
    init(descriptor: CInt, eventLoop: any EventLoop) {
        self.descriptor = descriptor
        self.eventLoop = eventLoop
    }

    /// Returns the socket of a channel; nil if it has none, as the embedded channels of tests.
    init?(of channel: any Channel) {
        #if canImport(Glibc)
        let descriptor = try? channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(of: CInt.self) { $0 }
        guard let descriptor else { return nil }
        self.init(descriptor: descriptor, eventLoop: channel.eventLoop)
        #else
        return nil
        #endif
    }

    /// Sends bytes.
    ///
    /// - Returns: The number of bytes the socket accepted; 0 on error or if it has no space.
    func send(_ bytes: ByteBuffer) -> Int {
        eventLoop.assertInEventLoop()
        return max(bytes.withUnsafeReadableBytes { Self.send($0, on: descriptor) }, 0)
    }

    /// Sends as many of the buffers as one system call accepts.
    ///
    /// - Returns: The number of bytes the socket accepted; 0 on error or if it has no space.
    func send(contentsOf buffers: [ByteBuffer]) -> Int {
        eventLoop.assertInEventLoop()
        #if canImport(Glibc)
        let sent = Self.withVectors(buffers.prefix(16)) { vectors in
            var vectors = vectors
            return vectors.withUnsafeMutableBufferPointer { vectors in
                var message = msghdr()
                message.msg_iov = vectors.baseAddress
                message.msg_iovlen = vectors.count
                return sendmsg(descriptor, &message, CInt(MSG_DONTWAIT) | CInt(MSG_NOSIGNAL))
            }
        }
        return max(sent, 0)
        #else
        return 0
        #endif
    }

    #if canImport(Glibc)
    /// Calls `body` with the memory of the buffers.
    private static func withVectors(
        _ buffers: ArraySlice<ByteBuffer>,
        _ vectors: [iovec] = [],
        _ body: ([iovec]) -> Int
    ) -> Int {
        guard let first = buffers.first else { return vectors.isEmpty ? 0 : body(vectors) }
        return first.withUnsafeReadableBytes { bytes in
            let vector = iovec(iov_base: UnsafeMutableRawPointer(mutating: bytes.baseAddress), iov_len: bytes.count)
            return withVectors(buffers.dropFirst(), vectors + [vector], body)
        }
    }
    #endif

    /// Sends bytes to a descriptor; the caller is on the event loop of its channel.
    ///
    /// - Returns: The number of bytes the socket accepted; negative on error or if it has no space.
    static func send(_ bytes: UnsafeRawBufferPointer, on descriptor: CInt) -> Int {
        #if canImport(Glibc)
        return Glibc.send(descriptor, bytes.baseAddress, bytes.count, CInt(MSG_DONTWAIT) | CInt(MSG_NOSIGNAL))
        #else
        return 0
        #endif
    }
}
