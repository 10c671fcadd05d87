/// The states of a room's HLS, in the spelling of the wire.
public enum HLSState: String, Sendable, Hashable, Codable {
    /// Wanted; the program has not reached it yet.
    case starting = "HLS_STARTING"
    /// The program is being cut into segments.
    case started = "HLS_STARTED"
    /// The playlist has a whole segment.
    case playable = "HLS_PLAYABLE"
    /// The end of the playlist is being written.
    case stopping = "HLS_STOPPING"
    /// Players find an ended playlist, or none.
    case stopped = "HLS_STOPPED"
}
