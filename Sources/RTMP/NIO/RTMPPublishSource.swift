public import Media

/// Where a publishing connection takes its packets from, and whom it tells how it fares.
///
/// All is called on the connection's event loop, and returns at once.
public protocol RTMPPublishSource: AnyObject, Sendable {
    /// The server agreed; packets are asked for from now on.
    func publishingStarted()
    /// The packet to write next; nil when none waits. After nil somebody has to `wake` the connection.
    func nextPacket() -> MediaPacket?
    /// So many bytes more were handed to the network.
    func wrote(bytes: Int)
    /// The connection is over; called exactly once after `start`, and last.
    func publishingEnded(_ end: RTMPPublishEnd)
}
