/// Something that an app tells everybody in a room, in words that only apps understand.
public struct CustomEventResource: Codable, Sendable, Hashable {
    /// What kind it is; `reaction` for a reaction.
    public var type: String
    /// What it says.
    public var data: [String: AnyJSON]
    /// The participant it comes from; null for one that runs the show without being in it.
    @ExplicitNull public var participantSID: String?
    /// The identity of that participant; null likewise.
    @ExplicitNull public var identity: String?

    /// Makes an event.
    public init(type: String, data: [String: AnyJSON], participantSID: String?, identity: String?) {
        self.type = type
        self.data = data
        self.participantSID = participantSID
        self.identity = identity
    }

    private enum CodingKeys: String, CodingKey {
        case type
        case data
        case participantSID = "participant_sid"
        case identity
    }
}
