/// The answer of `GET /v1/rooms/{room}/hands`.
public struct HandList: Codable, Sendable, Hashable {
    /// The hand that was raised first comes first.
    public var hands: [HandResource]
    /// Where the list goes on.
    public var meta: PageResource

    /// Makes a list.
    public init(hands: [HandResource], meta: PageResource) {
        self.hands = hands
        self.meta = meta
    }

    private enum CodingKeys: String, CodingKey {
        case hands
        case meta
    }
}
