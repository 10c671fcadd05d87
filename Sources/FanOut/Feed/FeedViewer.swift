import Media
import NIOCore
import RTMP
import Stage

/// The state of one viewer, used on its event loop only.
final class FeedViewer: MediaWriterObserver {
    enum State {
        /// Waits for a start point: just joined, or skipping.
        case waiting
        case flowing
        /// Removed.
        case gone
    }

    /// The shortest stall that is reported, in milliseconds; players buffer more than that.
    private static let shortestStall: Int64 = 500

    // The fields that every tick reads come first, close together.
    let writer: any ViewerWriter
    var state = State.waiting
    var isQualified = false
    /// The time since which the socket is blocked; nil if it is not.
    var blockedSince: MonotonicTime?
    var firstMedia: MonotonicTime?

    let output: any ViewerOutput
    let wire: ViewerWireFormat
    /// Records the viewer; nil for viewers that are never counted (mixer, monitors).
    let session: PlaybackSession?
    /// The session id, recorded or not; nil for mixers.
    let sid: String?
    /// The partition that serves the viewer; nil before it is added and after it is removed.
    var partition: FeedPartition?
    /// The viewer's index in its partition, so that removal is O(1).
    var index = 0
    /// Bytes queued for the socket when the viewer was last served.
    var queuedBytes = 0
    /// Bytes queued when the viewer was skipped, or last made progress.
    var blockedBytes = 0
    /// Bytes sent before the present flow, and the partition's total when that flow began.
    var deliveredBytes = 0
    var flowStart = 0

    init(
        output: any ViewerOutput,
        writer: any ViewerWriter,
        wire: ViewerWireFormat,
        session: PlaybackSession?,
        sid: String? = nil
    ) {
        self.output = output
        self.writer = writer
        self.wire = wire
        self.session = session
        self.sid = sid ?? session?.sid
    }

    func updateWritability(_ isWritable: Bool, now: MonotonicTime) {
        if isWritable {
            recordStall(until: now)
            blockedSince = nil
        } else if blockedSince == nil {
            blockedSince = now
            partition?.disableDirectWrite(self)
        }
    }

    /// Records a stall that has ended; shorter ones are covered by the player's buffer.
    private func recordStall(until now: MonotonicTime) {
        guard firstMedia != nil, let blockedSince else { return }
        let time = (now.nanoseconds - blockedSince.nanoseconds) / 1_000_000
        if time >= Self.shortestStall { session?.record(.stalled(milliseconds: time), at: now) }
    }

    func directSocketChanged() {
        partition?.disableDirectWrite(self)
    }

    func writabilityChanged(to isWritable: Bool) {
        updateWritability(isWritable, now: .now())
    }
}

/// The side of a viewer's connection that closes it.
///
/// All calls are on the viewer's event loop.
protocol ViewerOutput: AnyObject {
    /// Closes the connection, and tells the player the reason if its protocol can.
    func end(_ reason: AudienceEvent.CloseReason)
}

/// Writes a viewer's media.
///
/// Separate from `ViewerOutput`, so that a tick touches as few objects per viewer as possible: with thousands of
/// viewers none of them is still in the CPU cache.
protocol ViewerWriter: AnyObject {
    /// The socket for writes that bypass the writer; nil while the writer must be used.
    var directSocket: DirectSocket? { get }
    /// Passes all further bytes through the channel.
    func disableDirectWrites()
    /// Receives the changes of writability and of the direct socket.
    var observer: (any MediaWriterObserver)? { get set }
    /// Queues bytes for writing.
    func send(_ bytes: ByteBuffer)
    /// Queues several buffers as one write.
    func send(contentsOf buffers: [ByteBuffer])
    /// Bytes queued here, excluding those in the socket's send buffer.
    var pendingBytes: Int { get }
    /// Sets whether small writes may be delayed briefly and sent together.
    func setNagleEnabled(_ isNagleEnabled: Bool)
}

extension MediaWriter: ViewerWriter {}

/// Records the events of a counted viewer's session.
struct PlaybackSession: Sendable {
    let sid: String
    let room: String
    let playback: PlaybackProtocol
    /// The rendition that is played; nil for the program itself.
    var rendition: String?
    let audience: any AudienceObserving
    /// Whether all media requests of the viewer pass through this process.
    var isMediaSeen = false
    /// The reserved viewer slot, held until the viewer is proven to watch.
    var place: ViewerSlot?

    func record(_ kind: AudienceEvent.Kind, at time: MonotonicTime, bytes: Int = 0) {
        let event = AudienceEvent(
            sid: sid,
            room: room,
            playback: playback,
            rendition: rendition,
            kind: kind,
            at: time,
            bytes: bytes,
            isMediaSeen: isMediaSeen
        )
        audience.record(event)
    }
}
