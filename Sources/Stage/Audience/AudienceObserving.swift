/// The fan-out's view of whoever counts: it hands out viewer session ids and takes events.
///
/// All calls come from event loops and return at once.
public protocol AudienceObserving: Sendable {
    /// A new session id for a viewer of `room`.
    func makeSession(room: String) -> String
    /// Whether `sid` is one of ours for `room`, made by this process or an earlier one.
    func accepts(sid: String, room: String) -> Bool
    /// Whether `sid` is a viewer's who is here or was a moment ago, so that there is room for whoever shows it.
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
    /// Viewers without a connection of their own who are served here: by HLS, or let in and not proven to watch yet.
    var requesters: Int { get }
}

extension AudienceObserving {
    /// Does not count them.
    public var requesters: Int { 0 }

    /// Does not listen.
    public func hear(_ request: PlayerRequest, in room: String, on sid: String?) {}

    /// Goes by the offered id alone.
    public func admit(_ request: PlayerRequest, to room: String) -> ViewerAdmission {
        guard let sid = request.sid else { return .viewer(sid: makeSession(room: room)) }
        return accepts(sid: sid, room: room) ? .viewer(sid: sid) : .refused
    }
}
