/// The right to publish as one source of one host, given for a stream key.
public struct PublishGrant: Sendable, Hashable {
    /// The room.
    public let roomSID: String
    /// The room's unique name.
    public let room: String
    /// The host.
    public let participantSID: String
    /// The host's identity.
    public let identity: String
    /// What the connection stands for.
    public let source: PublishSource
}
