public import Stage
public import Viewership

/// Who counts the audience, as the control API sees it.
public protocol ViewershipReporting: Sendable {
    /// The figures of one room; zeros for a room that nobody has watched.
    func report(room: String) -> RoomViewership
    /// The figures of all rooms that are on, and their sum, of one moment.
    func totals() -> ViewershipTotals
    /// A session id for the players of a RECV_ONLY participant, so that the two count once.
    func makeSession(room: String, identity: String) -> String
    /// Takes what a player says of its own playing.
    ///
    /// - Parameters:
    ///   - room: what it plays, where the report does not say.
    ///   - player: what the request that brought it says.
    /// - Returns: whether the report is of a session of ours or of a room that is on.
    func take(_ report: PlayerReport, room: String?, from player: PlayerRequest) -> Bool
}

extension ViewershipLedger: ViewershipReporting {}
