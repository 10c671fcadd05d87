import Media
import NIOCore
import RTMP
import Stage

/// What is known of one viewer; touched on its event loop only.
final class Viewer: MediaWriterWatching {
    enum State {
        /// Gets nothing until the feed comes to a starting point: just joined, or skipped forward.
        case waiting
        case flowing
        /// No longer among the viewers.
        case gone
    }

    /// Milliseconds that players have in hand.
    private static let shortestStall: Int64 = 500

    // What every tick looks at comes first, close together.
    let writer: any ViewerWriter
    var state = State.waiting
    var isQualified = false
    /// Since when its socket takes nothing; nil while it keeps up.
    var blockedSince: MonotonicTime?
    var firstMedia: MonotonicTime?

    let output: any ViewerOutput
    let wire: ViewerWire
    /// Who to count; nil for viewers that are never counted (the mixer, monitors).
    let session: ViewerSession?
    /// Whose viewer it is; nil before it was added and after it left.
    var share: FeedShare?
    /// Place in the list of its share, kept so that leaving costs nothing.
    var index = 0
    /// Bytes that waited for its socket when it last had its turn.
    var queuedBytes = 0
    /// The same when it was skipped, or had last taken enough of them.
    var blockedBytes = 0
    /// Bytes that it was given before its present flow, and what its share had given to all when that began.
    var givenBytes = 0
    var flowBegan = 0

    init(output: any ViewerOutput, writer: any ViewerWriter, wire: ViewerWire, session: ViewerSession?) {
        self.output = output
        self.writer = writer
        self.wire = wire
        self.session = session
    }

    func noteWritability(_ isWritable: Bool, now: MonotonicTime) {
        if isWritable {
            tellStall(until: now)
            blockedSince = nil
        } else if blockedSince == nil {
            blockedSince = now
            share?.lookAt(self)
        }
    }

    /// It takes media again: says for how long it did not; shorter times no picture waits for.
    private func tellStall(until now: MonotonicTime) {
        guard firstMedia != nil, let blockedSince else { return }
        let time = (now.nanoseconds - blockedSince.nanoseconds) / 1_000_000
        if time >= Self.shortestStall { session?.record(.stalled(milliseconds: time), at: now) }
    }

    func straightSocketChanged() {
        share?.lookAt(self)
    }

    func writabilityChanged(to isWritable: Bool) {
        noteWritability(isWritable, now: .now())
    }
}
