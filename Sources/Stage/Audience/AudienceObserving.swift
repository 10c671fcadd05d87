public import Media

/// The fan-out's view of whoever counts: it hands out viewer session ids and takes events.
///
/// All calls come from event loops and return at once.
public protocol AudienceObserving: Sendable {
    /// A new session id for a viewer of `room`.
    func makeSession(room: String) -> String
    /// Whether `sid` is one of ours for `room`, made by this process or an earlier one.
    func accepts(sid: String, room: String) -> Bool
    /// Whether `sid` is that of a viewer who was proven to watch, and is here or was a moment ago, so that there is room for
    /// whoever shows it.
    ///
    /// A connection that is open already may be the one that was lost; with a second one nobody else comes in by it.
    func mayReturn(sid: String, room: String) -> Bool
    /// Takes one event; never blocks, and never lets a full queue slow the caller.
    func record(_ event: AudienceEvent)
    /// Says whose session a request belongs to; asked before an answer is given, with all that the request says.
    func admit(_ request: PlayerRequest, to room: String) -> ViewerAdmission
    /// Takes what a request for media itself says of how its player fares.
    ///
    /// - Parameter sid: Whose connection it came by; nil where that is nobody's alone.
    func hear(_ request: PlayerRequest, in room: String, on sid: String?)
    /// Media of `room` was sent to a client, not by a connection that one viewer alone asks for playlists on.
    ///
    /// - Parameters:
    ///   - client: A `PeerAddress.account`.
    ///   - connection: By which of its connections; nil where nobody knows, as in a log.
    ///   - time: When that was.
    func mediaServed(in room: String, to client: UInt64, over connection: UInt64?, at time: MonotonicTime)
    /// Says by how much what logs tell comes later than it happened; it never gets less.
    func logsLag(milliseconds: Int64)
    /// Whether a player may be let into a room, as far as the number of its viewers is limited.
    func hasPlace(in room: String, for player: PlayerRequest) -> Bool
    /// A place for a connection, to be held until it was told that the player watched, or is gone; nil when every place is
    /// taken.
    func takePlace(in room: String, for player: PlayerRequest) -> AudiencePlace?
    /// Viewers without a connection of their own who are served here: by HLS.
    ///
    /// Sessions that are not proven to watch are none of them, so that nobody takes a place by asking alone.
    var requesters: Int { get }
    /// What is known of the sessions of one client, a `PeerAddress.account`.
    func sessions(of client: UInt64) -> ClientSessions
}

/// How many sessions one client has.
public struct ClientSessions: Sendable, Equatable {
    /// Sessions that count as viewers, or did a moment ago.
    public var watching: Int
    /// Sessions that are not proven to watch yet.
    public var unproven: Int

    /// Makes one from its parts.
    public init(watching: Int = 0, unproven: Int = 0) {
        self.watching = watching
        self.unproven = unproven
    }
}

extension AudienceObserving {
    /// Does not count them.
    public var requesters: Int { 0 }

    /// Limits no room.
    public func hasPlace(in room: String, for player: PlayerRequest) -> Bool { true }

    /// Limits no room.
    public func takePlace(in room: String, for player: PlayerRequest) -> AudiencePlace? { .unlimited }

    /// Knows of none.
    public func sessions(of client: UInt64) -> ClientSessions { ClientSessions() }

    /// Does not ask for proof by media.
    public func mediaServed(in room: String, to client: UInt64, over connection: UInt64?, at time: MonotonicTime) {}

    /// Does not wait for what logs tell.
    public func logsLag(milliseconds: Int64) {}

    /// Does not listen.
    public func hear(_ request: PlayerRequest, in room: String, on sid: String?) {}

    /// Goes by the offered id alone.
    public func admit(_ request: PlayerRequest, to room: String) -> ViewerAdmission {
        guard let sid = request.sid else { return .viewer(sid: makeSession(room: room)) }
        return accepts(sid: sid, room: room) ? .viewer(sid: sid) : .refused
    }
}
