/// Whether a track's media can be played at this moment.
public enum MediaState: String, Sendable, Hashable, Codable {
    case blocked
    case off
    case receivable
    case loading
    case playable
    /// Was playable; nothing arrives at this moment.
    case interrupted
}
