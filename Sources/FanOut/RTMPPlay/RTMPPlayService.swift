import Media
import NIOCore
public import RTMP
public import Stage

/// Admits RTMP players to feeds.
public struct RTMPPlayService: Sendable {
    private let feeds: FeedDirectory
    private let audience: any AudienceObserving
    private let trust: ClientTrustPolicy

    /// Creates a service for feeds, whose viewers the audience counts.
    ///
    /// - Parameter trust: Which statements of players are trusted.
    public init(feeds: FeedDirectory, audience: any AudienceObserving, trust: ClientTrustPolicy = ClientTrustPolicy()) {
        self.feeds = feeds
        self.audience = audience
        self.trust = trust
    }

    /// Answers a play request for a room's program or a rendition.
    ///
    /// A valid `sid` in the query resumes that session; otherwise a new one starts. Players that are not counted are
    /// accepted as well.
    ///
    /// - Parameter bearer: The identity and role from the player's token.
    public func watch(_ request: PlayRequest, bearer: ViewerBearer = ViewerBearer()) -> PlayVerdict {
        guard let (feed, room) = feeds.playable(request.name) else {
            return .refuse(.noProgram(request))
        }
        let player = PlayerRequest(request, bearer: bearer, trust: trust)
        guard feeds.hasCapacity(for: player, by: .rtmp, in: room, among: audience) else {
            return .refuse(.playFailed("the gateway has no room for another viewer, try again later"))
        }
        let sid: String
        switch admission(of: player, to: room) {
        case .viewer(let admitted), .uncounted(let admitted):
            sid = admitted
        case .denied(let refusal):
            return .refuse(.playFailed(refusal.error.description))
        case .crowded, .refused:
            return .refuse(.playFailed("the gateway has no room for another viewer, try again later"))
        }
        guard let place = audience.reserveSlot(in: room, for: player) else {
            _ = feeds.refuseRoomFull(for: .rtmp)
            return .refuse(.playFailed(StageError.roomFull.description))
        }
        let session = PlaybackSession(
            sid: sid,
            room: room,
            playback: .rtmp,
            rendition: RenditionFeedName(feed.name)?.rendition,
            audience: audience,
            place: place
        )
        return .accept(RTMPViewer(feed: feed, session: session), sid: session.sid)
    }

    /// Admits a player, without the id in its query if that is not valid: RTMP cannot redirect it to get a new one.
    private func admission(of player: PlayerRequest, to room: String) -> ViewerAdmission {
        let admission = audience.admit(player, to: room)
        guard admission == .refused, player.sid != nil else { return admission }
        var player = player
        player.sid = nil
        return audience.admit(player, to: room)
    }

    /// Answers a play request of a mixer, which is not recorded.
    public func playUncounted(_ name: String) -> PlayVerdict {
        guard let feed = feeds.feed(name) ?? feeds.named(name)?.feed else {
            return .refuse(.playStreamNotFound("There is no feed \(name)."))
        }
        return .accept(RTMPViewer(feed: feed, session: nil))
    }
}

/// One RTMP player of a feed.
///
/// `@unchecked Sendable`: RTMP calls a receiver on its connection's event loop only, as does the feed's partition of
/// that loop; nothing else holds a reference.
final class RTMPViewer: PlayReceiver, ViewerOutput, @unchecked Sendable {
    private let feed: Feed
    private let session: PlaybackSession?
    private var connection: RTMPConnection?
    private var viewer: FeedViewer?
    /// Held while the connection is open.
    private var slot: ViewerSlot?

    init(feed: Feed, session: PlaybackSession?) {
        self.feed = feed
        self.session = session
    }

    func started(on connection: RTMPConnection) {
        self.connection = connection
        slot = session.flatMap { session in
            session.audience.connected(session.sid, to: session.room) { [weak connection] in connection?.close() }
        }
        let viewer = FeedViewer(output: self, writer: connection.media, wire: .rtmp, session: session)
        self.viewer = viewer
        feed.partition(on: connection.eventLoop)?.add(viewer, now: .now())
    }

    func ended(_ reason: RTMPEndReason) {
        slot = nil
        guard let viewer, let connection else { return }
        feed.partition(on: connection.eventLoop)?.remove(viewer, reason: .init(reason), now: .now())
        self.viewer = nil
        self.connection = nil
    }

    var sentBytes: Int? {
        guard session != nil else { return nil }
        return viewer.flatMap { $0.partition?.sentBytes(by: $0) } ?? 0
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
    /// Translates the reason for which the connection ended.
    fileprivate init(_ reason: RTMPEndReason) {
        switch reason {
        case .timedOut: self = .timedOut
        case .shutdown: self = .shutdown
        default: self = .left
        }
    }
}
