/// The right to publish as one source of one host, given for a stream key.
public struct PublishGrant: Sendable, Hashable {
    public let roomSID: String
    /// The room's unique name.
    public let room: String
    public let participantSID: String
    public let identity: String
    public let source: PublishSource
}
