/// The mode of a participant in a room.
public enum ParticipantMode: String, Sendable, Hashable, Codable, CaseIterable {
    /// A host: publishes, and has a tile in the program.
    case sendAndReceive = "SEND_AND_RECV"
    /// Audience: watches and is counted.
    case receiveOnly = "RECV_ONLY"
    /// Does not publish or watch; receives the room's events.
    case signallingOnly = "SIGNALLING_ONLY"

    /// Parses a mode by its API name; the two deprecated names are accepted but never written.
    public init?(wireName: String) {
        switch wireName {
        case "CONFERENCE": self = .sendAndReceive
        case "VIEWER": self = .signallingOnly
        default: self.init(rawValue: wireName)
        }
    }
}
