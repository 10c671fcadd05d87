/// The right to publish as one source of one host, given for a stream key.
public struct PublishGrant: Sendable {
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
    /// Says for each packet whether it may pass; it follows the stage by itself.
    public let gate: TrackGate
    /// What the host's call settings allow; as far as they leave something open, ingest's own limits count alone.
    public let limits: PublishLimits
}

extension PublishGrant: Hashable {
    /// Two grants are the same when they are for the same source of the same participant.
    public static func == (left: PublishGrant, right: PublishGrant) -> Bool {
        left.participantSID == right.participantSID && left.source == right.source && left.roomSID == right.roomSID
    }

    /// Hashes what makes grants the same.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(participantSID)
        hasher.combine(source)
    }
}
