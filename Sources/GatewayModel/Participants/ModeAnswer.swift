/// The answer to a change of mode.
public struct ModeAnswer: Codable, Sendable, Hashable {
    /// The participant after the change.
    public var participant: ParticipantResource
    /// How to publish; null unless a new host.
    @ExplicitNull public var ingest: IngestResource?

    /// Makes an answer.
    public init(participant: ParticipantResource, ingest: IngestResource?) {
        self.participant = participant
        self.ingest = ingest
    }

    private enum CodingKeys: String, CodingKey {
        case participant
        case ingest
    }
}
