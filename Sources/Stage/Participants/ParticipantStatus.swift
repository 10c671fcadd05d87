/// How firmly a participant is connected.
public enum ParticipantStatus: String, Sendable, Hashable, Codable {
    /// Joined, and not heard of since: no event stream, no heartbeat, no media.
    case connecting
    case connected
    /// The connection, or a host's media, was lost; the place on stage is kept.
    case reconnecting
    /// No longer in the room.
    case disconnected
}
