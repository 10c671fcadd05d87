import Media
public import RTMP
public import Stage

/// Lets RTMP players into the feeds.
public struct RTMPAudience: Sendable {
    private let feeds: FeedDirectory
    private let audience: any AudienceObserving

    /// Takes the feeds, and whoever counts their viewers.
    public init(feeds: FeedDirectory, audience: any AudienceObserving) {
        self.feeds = feeds
        self.audience = audience
    }

    /// Answers a player that asked for a room's program.
    ///
    /// A `sid` in the query that is ours resumes that viewer's session; otherwise a new one begins.
    public func watch(_ request: PlayRequest, on connection: RTMPConnection) -> PlayVerdict {
        guard let (feed, room) = feeds.playable(request.name) else {
            return .refuse(.playStreamNotFound(request.name))
        }
        guard feeds.hasRoom(for: .rtmp) else {
            return .refuse(.playFailed("the gateway has no room for another viewer, try again later"))
        }
        let known = request.query["sid"].flatMap { audience.accepts(sid: $0, room: room) ? $0 : nil }
        let session = ViewerSession(
            sid: known ?? audience.makeSession(room: room),
            room: room,
            playback: .rtmp,
            audience: audience
        )
        return .accept(RTMPViewer(feed: feed, session: session), sid: session.sid)
    }

    /// Answers a player that is never counted: the mixer, a monitor.
    public func attend(_ name: String) -> PlayVerdict {
        guard let feed = feeds.feed(name) ?? feeds.playable(name)?.feed else {
            return .refuse(.playStreamNotFound(name))
        }
        return .accept(RTMPViewer(feed: feed, session: nil))
    }
}
