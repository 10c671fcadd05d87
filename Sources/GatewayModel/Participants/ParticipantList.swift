/// The answer of `GET /v1/rooms/{room}/participants`.
public struct ParticipantList: Codable, Sendable, Hashable {
    /// In join order.
    public var participants: [ParticipantResource]
    /// Where the list goes on.
    public var meta: PageResource

    /// Makes a list.
    public init(participants: [ParticipantResource], meta: PageResource) {
        self.participants = participants
        self.meta = meta
    }

    private enum CodingKeys: String, CodingKey {
        case participants
        case meta
    }
}
