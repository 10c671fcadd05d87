/// How one participant is mixed as a host.
public struct ParticipantSoundResource: Codable, Sendable, Hashable {
    /// Decibels, -60 to 12.
    public var gainDB: Double
    /// The others may be turned down under the participant's speech.
    public var priority: Bool
    /// The program is offered to the participant without its own sound.
    public var returnFeed: Bool

    /// Makes settings; the usual ones unless said.
    public init(gainDB: Double = 0, priority: Bool = false, returnFeed: Bool = false) {
        self.gainDB = gainDB
        self.priority = priority
        self.returnFeed = returnFeed
    }

    private enum CodingKeys: String, CodingKey {
        case gainDB = "gain_db"
        case priority
        case returnFeed = "return_feed"
    }
}
