import Media
import NIOCore
import RTMP
import Stage

/// One RTMP player of a feed.
///
/// `@unchecked Sendable`: RTMP calls a receiver on its connection's event loop only, and so does the feed's share of
/// that loop; nothing else holds the object.
final class RTMPViewer: PlayReceiver, ViewerOutput, @unchecked Sendable {
    private let feed: Feed
    private let session: ViewerSession?
    private var connection: RTMPConnection?
    private var viewer: Viewer?

    init(feed: Feed, session: ViewerSession?) {
        self.feed = feed
        self.session = session
    }

    func started(on connection: RTMPConnection) {
        self.connection = connection
        let viewer = Viewer(output: self, writer: connection.media, wire: .rtmp, session: session)
        self.viewer = viewer
        feed.share(on: connection.eventLoop)?.add(viewer, now: .now())
    }

    func ended(_ reason: RTMPEndReason) {
        guard let viewer, let connection else { return }
        feed.share(on: connection.eventLoop)?.remove(viewer, reason: .init(reason), now: .now())
        self.viewer = nil
        self.connection = nil
    }

    var taken: Int? {
        guard session != nil else { return nil }
        return viewer.flatMap { $0.share?.taken(by: $0) } ?? 0
    }

    func end(_ reason: AudienceEvent.CloseReason) {
        guard let connection else { return }
        switch reason {
        case .tooSlow: connection.close()
        case .left, .timedOut, .roomEnded, .shutdown: connection.end(.playUnpublishNotify, reason: .shutdown)
        }
    }
}

extension AudienceEvent.CloseReason {
    /// Why the viewer left, as seen by its connection.
    fileprivate init(_ reason: RTMPEndReason) {
        switch reason {
        case .timedOut: self = .timedOut
        case .shutdown: self = .shutdown
        default: self = .left
        }
    }
}
