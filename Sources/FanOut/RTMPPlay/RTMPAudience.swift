import Media
public import RTMP
public import Stage

/// Lets RTMP players into the feeds.
public struct RTMPAudience: Sendable {
    private let feeds: FeedDirectory
    private let audience: any AudienceObserving
    private let reading: PlayerReading

    /// Takes the feeds, and whoever counts their viewers.
    ///
    /// - Parameter reading: What is believed of what players say of themselves.
    public init(feeds: FeedDirectory, audience: any AudienceObserving, reading: PlayerReading = PlayerReading()) {
        self.feeds = feeds
        self.audience = audience
        self.reading = reading
    }

    /// Answers a player that asked for a room's program.
    ///
    /// A `sid` in the query that is ours resumes that viewer's session; otherwise a new one begins. What is not to be
    /// counted plays all the same.
    ///
    /// - Parameter bearer: Whose token the player shows.
    public func watch(
        _ request: PlayRequest,
        on connection: RTMPConnection,
        bearer: ViewerBearer = ViewerBearer()
    ) -> PlayVerdict {
        guard let (feed, room) = feeds.playable(request.name) else {
            return .refuse(.playStreamNotFound(request.name))
        }
        let player = PlayerRequest(request, bearer: bearer, reading: reading)
        guard feeds.hasRoom(for: player, by: .rtmp, in: room, among: audience) else {
            return .refuse(.playFailed("the gateway has no room for another viewer, try again later"))
        }
        guard let sid = sid(of: player, room: room) else {
            return .refuse(.playFailed("the gateway has no room for another viewer, try again later"))
        }
        guard let place = audience.takePlace(in: room, for: player) else {
            _ = feeds.roomIsFull(for: .rtmp)
            return .refuse(.playFailed(StageError.roomFull.description))
        }
        let session = ViewerSession(
            sid: sid,
            room: room,
            playback: .rtmp,
            rendition: RenditionFeedName(feed.name)?.rendition,
            audience: audience,
            place: place
        )
        return .accept(RTMPViewer(feed: feed, session: session), sid: session.sid)
    }

    /// The id under which the player is recorded, whether it counts or not.
    private func sid(of player: PlayerRequest, room: String) -> String? {
        switch audience.admit(player, to: room) {
        case .viewer(let sid), .uncounted(let sid):
            return sid
        case .crowded:
            return nil
        case .refused:
            // Its address holds an id that is not one of ours; a player by RTMP cannot be sent for another one.
            guard player.sid != nil else { return nil }
            var player = player
            player.sid = nil
            return sid(of: player, room: room)
        }
    }

    /// Answers a player that is no viewer and is not recorded at all: the mixer.
    public func attend(_ name: String) -> PlayVerdict {
        guard let feed = feeds.feed(name) ?? feeds.named(name)?.feed else {
            return .refuse(.playStreamNotFound(name))
        }
        return .accept(RTMPViewer(feed: feed, session: nil))
    }
}
