/// The body of `PUT /v1/rooms/{room}/participants/{participant}/sound`; what is left out stays as it is.
public struct ParticipantSoundBody: Codable, Sendable, Hashable {
    /// Decibels, -60 to 12.
    public var gainDB: Double?
    /// The others may be turned down under the participant's speech.
    public var priority: Bool?
    /// The program is offered to the participant without its own sound.
    public var returnFeed: Bool?
    /// Milliseconds for which the host's media is held back, 60 to 2000; null takes the room's.
    public var jitterTarget: ExplicitNull<Int>?

    /// Makes a body; what is left out is nil.
    public init(
        gainDB: Double? = nil,
        priority: Bool? = nil,
        returnFeed: Bool? = nil,
        jitterTarget: ExplicitNull<Int>? = nil
    ) {
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
