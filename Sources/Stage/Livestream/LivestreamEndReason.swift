/// Why a livestream came to its end.
public enum LivestreamEndReason: String, Sendable, Hashable, Codable {
    /// It was stopped.
    case command
    /// It ran as long as it may.
    case maximumDuration = "max_duration"
    /// Nothing was to be heard or seen for too long.
    case idle
    /// No output could be connected (4013).
    case notStarted = "not_started"
    /// Every output was lost (5002).
    case lost
    /// Its room is gone.
    case roomEnded = "room_ended"
}
