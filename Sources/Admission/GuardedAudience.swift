public import Media
public import Stage

/// The audiences of all feeds: what is asked or recorded of a feed goes to the one that its name says.
public struct GuardedAudience: AudienceObserving {
    private let counted: CountedAudience
    private let uncounted: UncountedAudience

    /// Creates the audiences.
    ///
    /// - Parameters:
    ///   - counter: Counts the viewers.
    ///   - gate: Decides who they are.
    public init(_ counter: any PrivateAudience, behind gate: AudienceGate) {
        counted = CountedAudience(gate: gate, audience: counter)
        uncounted = UncountedAudience(gate: gate, counter: counter)
    }

    private func audience(of feed: String) -> any AudienceObserving {
        FeedAudience(of: feed).isCounted ? counted : uncounted
    }

    /// Returns the session of a request, or why the player is not admitted.
    public func admit(_ request: PlayerRequest, to room: String) -> ViewerAdmission {
        audience(of: room).admit(request, to: room)
    }

    /// Whether the id is authentic for the room, and its viewer may still watch.
    public func accepts(sid: String, room: String) -> Bool { audience(of: room).accepts(sid: sid, room: room) }

    /// Whether not everyone may watch a room from everywhere.
    public func isPrivate(_ room: String) -> Bool { audience(of: room).isPrivate(room) }

    /// Returns why a player would not be admitted.
    public func refusal(of request: PlayerRequest, to room: String) -> AccessRefusal? {
        audience(of: room).refusal(of: request, to: room)
    }

    /// Records an open connection.
    public func connected(_ sid: String, to room: String, close: @escaping @Sendable () -> Void) -> ViewerSlot? {
        audience(of: room).connected(sid, to: room, close: close)
    }

    /// Returns a new session id for a viewer of a public room.
    public func makeSession(room: String) -> String { audience(of: room).makeSession(room: room) }

    /// See `AudienceObserving`.
    public func mayReturn(sid: String, room: String) -> Bool {
        audience(of: room).mayReturn(sid: sid, room: room)
    }

    /// Records an event of a viewer.
    public func record(_ event: AudienceEvent) {
        audience(of: event.room).record(event)
    }

    /// Records what a media request reports about its player's state.
    public func recordPlayerReport(_ request: PlayerRequest, in room: String, on sid: String?) {
        audience(of: room).recordPlayerReport(request, in: room, on: sid)
    }

    /// Records media that was sent to a client.
    public func mediaServed(in room: String, to client: UInt64, over connection: UInt64?, at time: MonotonicTime) {
        audience(of: room).mediaServed(in: room, to: client, over: connection, at: time)
    }

    /// Raises the delay between an event and its log line.
    public func logsLag(milliseconds: Int64) { counted.logsLag(milliseconds: milliseconds) }

    /// Whether the room's viewer limit admits a player.
    public func hasFreeSlot(in room: String, for player: PlayerRequest) -> Bool {
        audience(of: room).hasFreeSlot(in: room, for: player)
    }

    /// Reserves a slot for a connection.
    public func reserveSlot(in room: String, for player: PlayerRequest) -> ViewerSlot? {
        audience(of: room).reserveSlot(in: room, for: player)
    }

    /// The verified viewers without a connection of their own.
    public var requesters: Int { counted.requesters }

    /// Returns the session counts of one client.
    public func sessions(of client: UInt64) -> ClientSessions { counted.sessions(of: client) }
}

/// The viewer counter behind the gate: admission is asked of the gate, everything else of the counter.
private struct CountedAudience: AudienceObserving {
    let gate: AudienceGate
    let audience: any PrivateAudience

    func admit(_ request: PlayerRequest, to room: String) -> ViewerAdmission { gate.admit(request, to: room) }

    func accepts(sid: String, room: String) -> Bool { gate.accepts(sid: sid, room: room) }

    func isPrivate(_ room: String) -> Bool { gate.isRestricted(room) }

    func refusal(of request: PlayerRequest, to room: String) -> AccessRefusal? {
        gate.refusal(of: request, to: room)
    }

    func connected(_ sid: String, to room: String, close: @escaping @Sendable () -> Void) -> ViewerSlot? {
        gate.connected(sid, to: room, close: close)
    }

    func makeSession(room: String) -> String { audience.makeSession(room: room) }

    func mayReturn(sid: String, room: String) -> Bool { audience.mayReturn(sid: sid, room: room) }

    func record(_ event: AudienceEvent) {
        audience.record(event)
    }

    func recordPlayerReport(_ request: PlayerRequest, in room: String, on sid: String?) {
        audience.recordPlayerReport(request, in: room, on: sid)
    }

    func mediaServed(in room: String, to client: UInt64, over connection: UInt64?, at time: MonotonicTime) {
        audience.mediaServed(in: room, to: client, over: connection, at: time)
    }

    func logsLag(milliseconds: Int64) { audience.logsLag(milliseconds: milliseconds) }

    func hasFreeSlot(in room: String, for player: PlayerRequest) -> Bool {
        audience.hasFreeSlot(in: room, for: player)
    }

    func reserveSlot(in room: String, for player: PlayerRequest) -> ViewerSlot? {
        audience.reserveSlot(in: room, for: player)
    }

    var requesters: Int { audience.requesters }

    func sessions(of client: UInt64) -> ClientSessions { audience.sessions(of: client) }
}

/// The players of feeds that no viewer counter learns of: monitors of a room, and the session ids that they get.
private struct UncountedAudience: AudienceObserving {
    /// Seconds for which a session id is valid.
    private static let lifetime = 43_200.0

    let gate: AudienceGate
    /// Makes the session ids.
    let counter: any PrivateAudience

    func makeSession(room: String) -> String { counter.makeSession(room: room) }

    func admit(_ player: PlayerRequest, to feed: String) -> ViewerAdmission {
        if let sid = player.sid, let statement = counter.statement(of: sid, room: feed),
            gate.date() - statement.issuedAt < Self.lifetime
        {
            return .uncounted(sid: sid)
        }
        guard FeedAudience(of: feed) == .monitors, player.role == .monitor, player.holdsToken else {
            return gate.deny(.preview)
        }
        return .uncounted(sid: makeSession(room: feed))
    }

    func refusal(of player: PlayerRequest, to feed: String) -> AccessRefusal? {
        guard case .denied(let refusal) = admit(player, to: feed) else { return nil }
        return refusal
    }

    func isPrivate(_ feed: String) -> Bool { true }

    /// No content network asks for such a feed on behalf of its viewers.
    func accepts(sid: String, room: String) -> Bool { false }

    func mayReturn(sid: String, room: String) -> Bool { false }

    func record(_ event: AudienceEvent) {}
}
