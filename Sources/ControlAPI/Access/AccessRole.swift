/// What kind of bearer a token is for.
public enum AccessRole: String, Sendable, Hashable, Codable {
    /// Runs the gateway: every room, every action.
    case `operator`
    /// A person in one room.
    case participant
    /// The mixer process of one room: follows it, plays its hosts, publishes its program.
    case mixer
    /// Reads rooms and numbers, changes nothing, and is never counted.
    case monitor
    /// Another server that passes the program on: it plays, tells by its log who watched there, and is never counted.
    case relay
    /// Makes still pictures of the program, and is never counted for playing it.
    case thumbnail
}
