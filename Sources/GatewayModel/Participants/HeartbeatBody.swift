/// The body of `POST /v1/rooms/{room}/participants/{participant}/heartbeat`.
public struct HeartbeatBody: Codable, Sendable, Hashable {
    /// From the join.
    public var sessionID: String
    /// dBFS as the client measures it; a hint, the mixer measures too.
    public var audioLevel: Double?

    /// Makes a body; what is left out is nil.
    public init(sessionID: String, audioLevel: Double? = nil) {
        self.sessionID = sessionID
        self.audioLevel = audioLevel
    }

    private enum CodingKeys: String, CodingKey {
        case sessionID = "session_id"
        case audioLevel = "audio_level"
    }
}
