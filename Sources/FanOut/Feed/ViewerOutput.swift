import NIOCore
import Stage

/// One viewer's connection as the feed writes to it.
///
/// All calls are on the viewer's event loop.
protocol ViewerOutput: AnyObject {
    /// Queues bytes without waiting for them to leave.
    func write(_ bytes: ByteBuffer)
    func flush()
    /// Ends the connection, telling the player why where its protocol can.
    func end(_ reason: AudienceEvent.CloseReason)
}
