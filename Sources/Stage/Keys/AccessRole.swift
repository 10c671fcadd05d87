/// The role of a token's bearer.
public enum AccessRole: String, Sendable, Hashable, Codable, CaseIterable {
    /// Runs the gateway: may access every room and every action.
    case `operator`
    /// A person in one room.
    case participant
    /// The mixer process of one room: follows the room, plays its hosts, publishes its program.
    case mixer
    /// Reads rooms and statistics without changing anything; never counted as a viewer.
    case monitor
    /// Another server that forwards the program: plays it and uploads its access log; never counted as a viewer.
    case relay
    /// Makes still images of the program; never counted as a viewer.
    case thumbnail
}
