/// What a participant may do in a room.
public enum ParticipantMode: String, Sendable, Hashable, Codable, CaseIterable {
    /// A host: publishes, and has a tile in the program.
    case sendAndReceive = "SEND_AND_RECV"
    /// Audience: watches and is counted.
    case receiveOnly = "RECV_ONLY"
    /// Neither publishes nor watches; follows the room's events.
    case signallingOnly = "SIGNALLING_ONLY"

    /// Reads a mode by its name on the wire, the two deprecated names included, which are never written again.
    public init?(wireName: String) {
        switch wireName {
        case "CONFERENCE": self = .sendAndReceive
        case "VIEWER": self = .signallingOnly
        default: self.init(rawValue: wireName)
        }
    }
}
