/// How firmly a participant is connected.
public enum ParticipantStatus: String, Sendable, Hashable, Codable {
    /// Joined; a host's media has not arrived yet.
    case connecting
    case connected
    /// A host whose media connection dropped; the place on stage is kept.
    case reconnecting
    /// No longer in the room.
    case disconnected
}
