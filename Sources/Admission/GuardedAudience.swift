public import Media
public import Stage

/// The viewer counter behind the gate: admission is asked of the gate, everything else of the counter.
public struct GuardedAudience: AudienceObserving {
    private let gate: AudienceGate
    private let audience: any PrivateAudience

    /// Creates an audience whose admission a gate decides.
    public init(_ audience: any PrivateAudience, behind gate: AudienceGate) {
        self.audience = audience
        self.gate = gate
    }

    /// Returns the session of a request, or why the player is not admitted.
    public func admit(_ request: PlayerRequest, to room: String) -> ViewerAdmission { gate.admit(request, to: room) }

    /// Whether the id is authentic for the room, and its viewer may still watch.
    public func accepts(sid: String, room: String) -> Bool { gate.accepts(sid: sid, room: room) }

    /// Whether not everyone may watch a room from everywhere.
    public func isPrivate(_ room: String) -> Bool { gate.isRestricted(room) }

    /// Returns why a player would not be admitted.
    public func refusal(of request: PlayerRequest, to room: String) -> AccessRefusal? {
        gate.refusal(of: request, to: room)
    }

    /// Records an open connection.
    public func connected(_ sid: String, to room: String, close: @escaping @Sendable () -> Void) -> ViewerSlot? {
        gate.connected(sid, to: room, close: close)
    }

    /// Returns a new session id for a viewer of a public room.
    public func makeSession(room: String) -> String { audience.makeSession(room: room) }

    /// See `AudienceObserving`.
    public func mayReturn(sid: String, room: String) -> Bool { audience.mayReturn(sid: sid, room: room) }

    /// Records an event, unless it is of a preview, whose players are no viewers.
    public func record(_ event: AudienceEvent) {
        if !PreviewFeedName.isName(event.room) { audience.record(event) }
    }

    /// Records what a media request reports about its player's state.
    public func recordPlayerReport(_ request: PlayerRequest, in room: String, on sid: String?) {
        guard !PreviewFeedName.isName(room) else { return }
        audience.recordPlayerReport(request, in: room, on: sid)
    }

    /// Records media that was sent to a client.
    public func mediaServed(in room: String, to client: UInt64, over connection: UInt64?, at time: MonotonicTime) {
        guard !PreviewFeedName.isName(room) else { return }
        audience.mediaServed(in: room, to: client, over: connection, at: time)
    }

    /// Raises the delay between an event and its log line.
    public func logsLag(milliseconds: Int64) { audience.logsLag(milliseconds: milliseconds) }

    /// Whether the room's viewer limit admits a player.
    public func hasFreeSlot(in room: String, for player: PlayerRequest) -> Bool {
        audience.hasFreeSlot(in: room, for: player)
    }

    /// Reserves a slot for a connection.
    public func reserveSlot(in room: String, for player: PlayerRequest) -> ViewerSlot? {
        audience.reserveSlot(in: room, for: player)
    }

    /// The verified viewers without a connection of their own.
    public var requesters: Int { audience.requesters }

    /// Returns the session counts of one client.
    public func sessions(of client: UInt64) -> ClientSessions { audience.sessions(of: client) }
}
