/// Which events a connection is to carry.
enum EventSource: Sendable, Equatable {
    /// Those of a room, for somebody who looks on.
    case room(String)
    /// Those of a room, as the own stream of somebody in it.
    case session(room: String, participant: String, sessionID: String)
    /// Those that concern an identity, in whatever room.
    case identity(String)
}
