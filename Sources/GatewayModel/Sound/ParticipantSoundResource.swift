/// How one participant is mixed as a host.
public struct ParticipantSoundResource: Codable, Sendable, Hashable {
    /// Decibels, -60 to 12.
    public var gainDB: Double
    /// The others may be turned down under the participant's speech.
    public var priority: Bool
    /// The program is offered to the participant without its own sound.
    public var returnFeed: Bool
    /// Milliseconds for which the host's media is held back, 60 to 2000; nil takes the room's.
    public var jitterTarget: Int?

    /// Makes settings; the usual ones unless said.
    public init(gainDB: Double = 0, priority: Bool = false, returnFeed: Bool = false, jitterTarget: Int? = nil) {
        self.gainDB = gainDB
        self.priority = priority
        self.returnFeed = returnFeed
        self.jitterTarget = jitterTarget
    }

    private enum CodingKeys: String, CodingKey {
        case gainDB = "gain_db"
        case priority
        case returnFeed = "return_feed"
        case jitterTarget = "jitter_target"
    }
}
