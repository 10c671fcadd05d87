/// The body of `POST /v1/rooms/{room}/participants/{participant}/reconnect`.
public struct ReconnectBody: Codable, Sendable, Hashable {
    /// From the join.
    public var sessionID: String
    /// The revision of the latest event that was read.
    public var lastEventID: EventID?

    /// Makes a body; what is left out is nil.
    public init(sessionID: String, lastEventID: EventID? = nil) {
        self.sessionID = sessionID
        self.lastEventID = lastEventID
    }

    private enum CodingKeys: String, CodingKey {
        case sessionID = "session_id"
        case lastEventID = "last_event_id"
    }
}
