import NIOCore
import RTMP

/// Where a viewer's media goes.
///
/// Apart from `ViewerOutput`, so that a tick touches as few objects per viewer as it can: with thousands of viewers
/// none of them is still in the processor's cache.
protocol ViewerWriter: AnyObject {
    /// Where bytes may be sent without the writer; nil when it has to be asked.
    var straightSocket: CInt? { get }
    /// Who is told when that is over.
    var watcher: (any MediaWriterWatching)? { get set }
    /// Sends bytes without waiting for them to leave.
    func send(_ bytes: ByteBuffer)
    /// Sends several buffers as one.
    func send(contentsOf buffers: [ByteBuffer])
    /// Bytes that wait to be sent; those the system has taken are not among them.
    var waitingBytes: Int { get }
    /// Whether small writes may be held back for a moment to be sent together.
    func gather(_ isGathering: Bool)
}

extension MediaWriter: ViewerWriter {}
