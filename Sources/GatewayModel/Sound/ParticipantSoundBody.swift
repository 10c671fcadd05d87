/// The body of `PUT /v1/rooms/{room}/participants/{participant}/sound`; what is left out stays as it is.
public struct ParticipantSoundBody: Codable, Sendable, Hashable {
    /// Decibels, -60 to 12.
    public var gainDB: Double?
    /// The others may be turned down under the participant's speech.
    public var priority: Bool?
    /// The program is offered to the participant without its own sound.
    public var returnFeed: Bool?

    /// Makes a body; what is left out is nil.
    public init(gainDB: Double? = nil, priority: Bool? = nil, returnFeed: Bool? = nil) {
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
